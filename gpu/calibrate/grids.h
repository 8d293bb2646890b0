#pragma once

#include <vector>

#include "core/base/operation.h"

namespace vsim::gpu {

/// A matrix product of bf16: m x n = (m x k)(k x n).
[[nodiscard]] core::Operation productOf(std::int64_t m, std::int64_t n, std::int64_t k);
/// Causal fused attention of bf16 over one sequence, 32 heads (8 of keys) of 128.
[[nodiscard]] core::Operation attentionOf(std::int64_t sequence, bool backward);
/// A copy that moves `bytes`: half of them read, half written.
[[nodiscard]] core::Operation copyOf(core::Bytes bytes);

/// A shape and how soon it is worth measuring: 0 first.
struct GridPoint {
  core::Operation operation;
  int level = 0;
};
/// Products over m from 128 to 16,384 and n, k from 1,024 to 16,384, the large square ones first; attention
/// over sequences from 1,024 to 16,384 in both directions. `small`: everything about a twentieth in length,
/// for processors.
[[nodiscard]] std::vector<GridPoint> kernelGrid(bool small);

/// Sizes of collectives between two, powers of two: powers of 16 first, then of 4, then the others.
struct GridSize {
  core::Bytes bytes = 0;
  int level = 0;
};
[[nodiscard]] std::vector<GridSize> sizeGrid(core::Bytes smallest, core::Bytes largest);

}  // namespace vsim::gpu
