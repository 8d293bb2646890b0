#pragma once

#include <vector>

#include "gui/model/step_graph.h"
#include "gui/model/timeline_scene.h"

namespace vsim::gui {

/// The same collective on the other ranks of its communicator, where the log has them apart (real runs, ranks
/// that differ): the slices of the same instruction in the same step. Empty for kernels, for traces of other
/// programs and where one rank stands for all.
[[nodiscard]] std::vector<SliceRef> participantsOf(const TimelineScene& scene, SliceRef slice);

}  // namespace vsim::gui
