#pragma once

#include <memory>

#include "gui/view/view.h"

namespace vsim::gui {

/// Two to eight reports side by side: where the step time differs, memory, lanes of a step, settings.
[[nodiscard]] std::unique_ptr<View> makeCompareView(Session& session, QWidget* parent);

}  // namespace vsim::gui
