#pragma once

#include <optional>
#include <vector>

#include "core/plan/count_types.h"

namespace vsim::core {

enum class Feasibility { Yes, No, Unknown };

/// Exact over all orders at one shard size: equal tensors can be exchanged, so that the smallest end over all
/// orders is a recurrence over how many of each type are placed. D(A) = min over t of f_t(D(A - t)), as a
/// later end of A - t is never better. States whose gaps exceed what the buffer can spare are dropped.
class CountProgram {
 public:
  /// More states than this are not tried: 8 bytes each.
  static constexpr std::int64_t kMostStates = 16'000'000;

  explicit CountProgram(const CountedProblem& problem) : problem_(problem), states_(problem.states()) {}

  [[nodiscard]] bool small() const { return states_ <= kMostStates; }
  /// Placements of one run at most.
  [[nodiscard]] std::int64_t cost() const {
    return states_ * static_cast<std::int64_t>(problem_.types.size());
  }
  /// Only tensors whose block divides `d` may fill whole shards. Unknown when the budget ends, or when all
  /// that stands between the sequence's end and the buffer's are its trailing tensors, which might fill gaps.
  Feasibility run(std::int64_t shardElements, std::int64_t d, std::int64_t devices, SearchBudget& budget);
  /// Type indices of the sequence found by the last run that answered Yes.
  [[nodiscard]] const std::vector<std::uint32_t>& sequence() const { return sequence_; }

 private:
  bool fill(std::int64_t total, SearchBudget& budget);
  void trace();

  const CountedProblem& problem_;
  std::int64_t states_;
  std::vector<PlacedType> placed_;
  std::vector<std::int64_t> strides_;
  std::vector<std::int64_t> ends_;  // per count vector, mixed radix; kNone: not reached
  std::vector<std::uint32_t> sequence_;
};

}  // namespace vsim::core
