#pragma once

#include <string>

#include "gui/model/row_layout.h"
#include "gui/model/timeline_scene.h"

namespace vsim::gui {

// Statistics of one row of the timeline over the last completed step of its class of ranks (traces without
// steps: over everything).

/// What stands right of the row's title. Stream: busy share, "83.1 %". Exposed: "1.200 ms · 4.1 %". A class
/// of ranks, where there are several: how long after the first of them it ended its step, "+3.100 us". Else
/// empty.
[[nodiscard]] std::string trackFigure(const TimelineScene& scene, const TimelineRow& row);

/// The whole of it, for a tooltip: "compute: busy 83.1 % of the last step, 1204 slices, mean 23.10 us,
/// longest 1.200 ms (L3 lm_head)".
[[nodiscard]] std::string trackLine(const TimelineScene& scene, const TimelineRow& row);

}  // namespace vsim::gui
