#pragma once

#include <cstdint>

#include "core/base/operation.h"

namespace vsim::gpu {

/// What the host computes for an operation: its true shape, made smaller so that the work becomes `scale`
/// times the operation's. A scale of 1, or more, is the whole operation; 0, negative and not-a-number mean no
/// work.
/// The shapes keep their proportions as far as whole sizes allow, and never go below 1: tiny operations do
/// more than their share.

/// `launches` times `groups` products: gemm: each m x n = (m x k)(k x n); grouped: m rows dealt out evenly.
struct HostProduct {
  std::int64_t m = 0, n = 0, k = 0, groups = 0, launches = 0;
  bool rowsOfAllGroups = false;
  [[nodiscard]] core::Flops flops() const;
};
/// All three sizes shrink by the cube root of the scale; the largest one last, so that it makes up for the
/// rounding of the others.
[[nodiscard]] HostProduct productOf(const core::Operation& operation, double scale);

/// Attention of `heads` heads (all sequences together) in blocks of query rows times keys. A block on the
/// edge of the mask is computed as a whole: that counts as work, the sequence is so much the shorter.
struct HostAttention {
  std::int64_t heads = 0, sequence = 0, headDim = 0, headDimValue = 0, launches = 0;
  std::int64_t window = 0;  // keys that a row sees; 0: all
  bool causal = true, backward = false;

  static constexpr std::int64_t kRows = 64;  // query rows of a block
  struct Keys {
    std::int64_t first = 0, end = 0;
  };
  /// Keys that the block of query rows from `row` on sees.
  [[nodiscard]] Keys keysOf(std::int64_t row) const;
  /// (query, key) pairs computed for one head.
  [[nodiscard]] double pairs() const;
  [[nodiscard]] core::Flops flopsPerPair() const;
  [[nodiscard]] core::Flops flops() const;
};
/// Head sizes and sequence shrink by the cube root of the scale, which makes the work shrink by the scale.
/// The work meant is that of the mask (Operation::causalFlops), not of the full score matrix.
[[nodiscard]] HostAttention attentionOf(const core::Operation& operation, double scale);

/// Floats read and written by a memory-bound kernel, all launches together.
struct HostTraffic {
  std::int64_t read = 0, written = 0;
};
[[nodiscard]] HostTraffic trafficOf(const core::Operation& operation, double scale);

/// Work that HostCompute really does: FLOPs of matrix products, bytes of memory-bound kernels.
struct HostWork {
  core::Flops flops = 0;
  double bytes = 0;
};
[[nodiscard]] HostWork workOf(const core::Operation& operation, double scale);

}  // namespace vsim::gpu
