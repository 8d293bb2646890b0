#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/plan/reduced_problem.h"

namespace vsim::core {

/// Work that a search may still do, in tensors placed.
class SearchBudget {
 public:
  explicit SearchBudget(std::int64_t placements, const std::function<bool()>* expired = nullptr)
      : left_(placements), expired_(expired) {}

  void spend(std::int64_t placements) {
    left_ -= placements;
    spent_ += placements;
  }
  [[nodiscard]] bool affords(std::int64_t placements) const { return !ended_ && placements <= left_; }
  /// Asks the clock too, where there is one.
  [[nodiscard]] bool ended() {
    if (!ended_) ended_ = left_ <= 0 || (expired_ != nullptr && *expired_ && (*expired_)());
    return ended_;
  }
  [[nodiscard]] std::int64_t left() const { return left_; }
  [[nodiscard]] std::int64_t spent() const { return spent_; }

 private:
  std::int64_t left_, spent_ = 0;
  const std::function<bool()>* expired_;
  bool ended_ = false;
};

/// Order of the tensors as indices into the problem's.
using TensorOrder = std::vector<std::uint32_t>;

/// Decides for one order whether a shard size has a layout; for smallestShardSize(). The earliest valid start
/// is best for every tensor in turn, as the valid starts depend on the offset in the shard alone and the
/// later tensors only gain: one pass, O(1) a tensor whatever the number of shards it spans.
class FixedOrder {
 public:
  /// The order in which `problem` lists its tensors.
  explicit FixedOrder(const ReducedProblem& problem);
  FixedOrder(const ReducedProblem& problem, const TensorOrder& order);

  void enterClass(std::int64_t d);
  bool operator()(std::int64_t shardElements);
  /// Starts at a size that fits, in this order.
  [[nodiscard]] std::vector<std::int64_t> starts(std::int64_t shardElements);
  [[nodiscard]] std::int64_t tensors() const { return static_cast<std::int64_t>(items_.size()); }
  /// Tensors placed so far.
  [[nodiscard]] std::int64_t placements() const { return placements_; }

 private:
  struct Item {
    std::int64_t elements = 0, block = 1;
    bool wholeShards = false;  // may fill a shard from boundary to boundary
  };
  class Placer;

  std::vector<Item> items_;
  std::int64_t devices_;
  std::int64_t placements_ = 0;
};

/// planGivenOrder() of planner.h for a problem that passed problemError(); adds its work to `placements`.
[[nodiscard]] Result<Layout> planGivenOrder(const LayoutProblem& problem, const ReducedProblem& reduced,
                                            std::int64_t& placements);

}  // namespace vsim::core
