#pragma once

#include <memory>

#include "gui/view/view.h"

namespace vsim::gui {

/// The runs of the session's store: find, open, compare, mark and delete them.
[[nodiscard]] std::unique_ptr<View> makeRunsView(Session& session, QWidget* parent);

}  // namespace vsim::gui
