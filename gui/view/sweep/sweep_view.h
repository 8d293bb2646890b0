#pragma once

#include <memory>

#include "gui/view/view.h"

namespace vsim::gui {

/// All reports of runs as points: any quantity against any other, heat maps, Pareto fronts.
[[nodiscard]] std::unique_ptr<View> makeSweepView(Session& session, QWidget* parent);

}  // namespace vsim::gui
