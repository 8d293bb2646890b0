#pragma once

#include <memory>

#include "gui/view/view.h"

namespace vsim::gui {

/// Landing page of a run: where the step goes, memory against capacity, collectives, what changed against the
/// baseline. Every figure leads to the page that explains it.
[[nodiscard]] std::unique_ptr<View> makeSummaryView(Session& session, QWidget* parent);

}  // namespace vsim::gui
