#pragma once

#include <optional>

#include "core/plan/layout.h"

namespace vsim::core {

/// Shard sizes (elements) below which no layout exists, whatever the order. Each includes the one before.
struct LowerBounds {
  std::int64_t volume = 0;     // the tensors' elements, rounded to the alignment, over the devices
  std::int64_t placeable = 0;  // every tensor alone has a valid start
  std::int64_t blocks = 0;     // blocks as items of a bin packing, by superadditive counting
};

/// `feasible`: a shard size known to have a layout; keeps the search short and caps the bounds. Without it
/// one shard that holds everything is taken. Errors: see problemError().
[[nodiscard]] Result<LowerBounds> lowerBounds(const LayoutProblem& problem,
                                              std::optional<std::int64_t> feasible = std::nullopt);

}  // namespace vsim::core
