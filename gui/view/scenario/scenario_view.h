#pragma once

#include <memory>

#include "gui/view/view.h"

namespace vsim::gui {

/// A scenario as form and text, both in step, checked as the command line checks it, and run from here.
[[nodiscard]] std::unique_ptr<View> makeScenarioView(Session& session, QWidget* parent);

}  // namespace vsim::gui
