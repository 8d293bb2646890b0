#pragma once

#include <span>
#include <vector>

#include "core/plan/layout.h"

namespace vsim::core {

/// The smallest shard size for the tensors in their given order, with their starts. Exact: no RaggedShard
/// layout (veScale-FSDP, arXiv 2602.22437) that keeps this order has a smaller S. (But for hundreds of large
/// tensors whose blocks have no common divisor: then not every lcm of blocks is tried, and lowerBound is
/// below S.) Cost: O(tensors) per shard size tried, whatever the number of devices; a few dozen sizes are
/// tried. Errors: see problemError(); a layout whose buffer exceeds 2^62 elements.
[[nodiscard]] Result<Layout> planGivenOrder(const LayoutProblem& problem);

/// planGivenOrder for every problem, in order. Problems equal in sizes, blocks, devices, unit and alignment
/// (the layers of a model; names do not count) are planned once. The first error ends it.
[[nodiscard]] Result<std::vector<Layout>> planAll(std::span<const LayoutProblem> problems);

}  // namespace vsim::core
