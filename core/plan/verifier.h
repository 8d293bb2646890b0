#pragma once

#include "core/plan/layout.h"

namespace vsim::core {

/// Everything that is wrong with `layout` as an answer to `problem`; empty when it is valid. Written from the
/// rules alone (sizes, unit, alignment, bounds, no overlap, no block cut; for per-parameter layouts: slots
/// inside the shard, none overlapping, all slices held), with no code shared with the planners, whose
/// layouts, like those of every system, must pass it. O(n log n) in the tensors, whatever the number of
/// devices.
[[nodiscard]] Errors verifyLayout(const LayoutProblem& problem, const Layout& layout);

}  // namespace vsim::core
