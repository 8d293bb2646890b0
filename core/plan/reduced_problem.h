#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/layout.h"

namespace vsim::core {

/// One tensor in units of the alignment: 0 <= elements, 1 <= block <= max(elements, 1).
struct ReducedTensor {
  std::int64_t elements = 0, block = 1;
  friend bool operator==(const ReducedTensor&, const ReducedTensor&) = default;
};
struct TensorType {
  ReducedTensor tensor;
  std::int64_t count = 0;
};

/// The problem with alignment 1 that has the same layouts: sizes rounded up to the alignment a, blocks
/// replaced by lcm(block, a), all divided by a. (Boundaries k*S and starts l are multiples of a, so k*S - l
/// lies inside the tensor exactly when it lies inside the rounded one, and is a multiple of the block exactly
/// when it is one of lcm(block, a).)
struct ReducedProblem {
  std::vector<ReducedTensor> tensors;  // in the problem's order
  std::vector<TensorType> types;       // distinct ones, largest total volume first
  std::int64_t devices = 1, unit = 1, align = 1;
  std::int64_t volume = 0;       // elements of all tensors
  std::int64_t volumeBound = 0;  // smallest multiple of the unit that holds them on all devices
};

/// `problem` must pass problemError().
[[nodiscard]] ReducedProblem reduce(const LayoutProblem& problem);

}  // namespace vsim::core
