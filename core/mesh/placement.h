#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/base/error.h"

namespace vsim::core {

/// How one mesh dimension places a tensor. Values; the ragged ones can only be made valid.

/// Every rank holds the whole.
struct Replicate {
  friend bool operator==(const Replicate&, const Replicate&) = default;
};
/// Every rank holds a summand of the value.
struct Partial {
  friend bool operator==(const Partial&, const Partial&) = default;
};
/// Cut along tensor dimension `dim` into chunks of ceil(size / ranks); the last may be short or empty.
struct Shard {
  int dim = 0;
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// Half-open run [begin, end) of flat row-major element positions.
struct Interval {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// veScale's RaggedShard: the product P of the leading `dims` is cut into sum(units) equal parts; rank k owns
/// units[k] of them, in rank order, as one contiguous run of the flat tensor. dims is (0), (0, 1), ...; empty
/// dims: the whole tensor is one part with one owner.
/// Source: public volcengine/veScale, vescale/dtensor, revision 20cf5c71; stricter than it in that everything
/// is checked when made.
class RaggedShard {
 public:
  /// Errors: dims that are no prefix in order, no units, negative units, sum 0 or beyond 2^63, empty dims
  /// with more than one owner or a unit other than 1.
  [[nodiscard]] static Result<RaggedShard> make(std::vector<int> dims, std::vector<std::int64_t> units);
  /// The coarsest description of consecutive runs that cover a tensor of this shape, rank 0 first; interval k
  /// begins where k - 1 ends. This is the placement of a tensor that a layout cuts. Errors: runs that do not
  /// cover it in order.
  [[nodiscard]] static Result<RaggedShard> fromIntervals(std::span<const std::int64_t> shape,
                                                         std::span<const Interval> intervals);

  [[nodiscard]] const std::vector<int>& dims() const { return dims_; }
  [[nodiscard]] const std::vector<std::int64_t>& units() const { return units_; }
  [[nodiscard]] std::int64_t totalUnits() const { return before_.back(); }

  /// Error when a tensor of this shape cannot be placed: fewer dimensions than dims, or a product of the
  /// ragged sizes that totalUnits() does not divide.
  [[nodiscard]] Result<void> check(std::span<const std::int64_t> shape) const;
  /// The run of `rank` in the flat tensor of `shape`, which must pass check().
  [[nodiscard]] Interval interval(std::span<const std::int64_t> shape, std::int64_t rank) const;

  friend bool operator==(const RaggedShard&, const RaggedShard&) = default;

 private:
  RaggedShard() = default;
  std::vector<int> dims_;
  std::vector<std::int64_t> units_;
  std::vector<std::int64_t> before_;  // sums of the units before each rank, and the total
};

/// RaggedShard on an outer mesh dimension while inner ones shard dimension 0: the runs are those of the inner
/// rank's own rows, so that in the global tensor the outer ranks interleave. `splitFactor`: product of the
/// inner mesh sizes that shard dimension 0.
struct StridedRaggedShard {
  RaggedShard ragged;
  std::int64_t splitFactor = 1;
  friend bool operator==(const StridedRaggedShard&, const StridedRaggedShard&) = default;
};
/// Errors: those of RaggedShard; a split factor below 1.
[[nodiscard]] Result<StridedRaggedShard> makeStridedRaggedShard(std::vector<int> dims,
                                                                std::vector<std::int64_t> units,
                                                                std::int64_t splitFactor);

using Placement = std::variant<Replicate, Partial, Shard, RaggedShard, StridedRaggedShard>;

/// "Replicate", "Shard(1)", "RaggedShard((0, 1), units 2:1:0)".
[[nodiscard]] std::string text(const Placement& placement);

/// The granularity, in elements of the local tensor, of a ragged cut on an outer mesh dimension when `parts`
/// inner ranks shard dimension `dim` > 0: lcm(block, run of dimension dim) whole runs, so that it does not
/// matter which of the two is applied first. Errors: dim 0 or out of range, a size that `parts` does not
/// divide, overflow.
[[nodiscard]] Result<std::int64_t> blockWithInnerShard(std::span<const std::int64_t> shape, int dim,
                                                       std::int64_t parts, std::int64_t block);

}  // namespace vsim::core
