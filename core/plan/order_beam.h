#pragma once

#include <vector>

#include "core/plan/count_types.h"

namespace vsim::core {

/// How many partial orders a beam keeps per number of tensors placed.
struct BeamWidth {
  std::int64_t kept = 1;
  /// Keeps so many for every count of the most frequent type instead: those that save it for later look
  /// wasteful early on.
  bool stratified = false;
};

/// Searches an order for one shard size: partial orders grow by one tensor at a time; those with the least
/// gaps are kept, of equal ones those that have the small blocks, which cross boundaries best, still to
/// place. Partial orders with the same tensors count once.
class OrderBeam {
 public:
  /// More partial orders than this over all levels are not kept: 8 bytes each.
  static constexpr std::int64_t kMostKept = 8'000'000;

  OrderBeam(const CountedProblem& problem, BeamWidth width);

  [[nodiscard]] bool small() const;
  /// True when an order fits; false: none found, or the budget ended.
  bool run(std::int64_t shardElements, std::int64_t devices, SearchBudget& budget);
  [[nodiscard]] const std::vector<std::uint32_t>& sequence() const { return sequence_; }

 private:
  struct Partial {
    std::int64_t gaps = 0;    // end - volume
    std::int64_t blocks = 0;  // sum of the blocks placed: the larger, the smaller those left
    std::int64_t end = 0;
    std::uint64_t key = 0;  // sum of random numbers of the tensors placed
    std::uint32_t parent = 0, type = 0;
  };
  struct Trail {
    std::uint32_t parent, type;  // parent counts over all levels
  };

  void grow(std::int64_t slack, SearchBudget& budget);
  void offer(std::size_t stratum, const Partial& partial);
  void collect();
  void trace(std::size_t last);

  const CountedProblem& problem_;
  BeamWidth width_;
  std::size_t strata_ = 1, frequent_ = 0;
  std::vector<std::uint64_t> keys_;
  std::vector<PlacedType> placed_;
  std::vector<Partial> level_;                  // partial orders of one level
  std::vector<std::uint32_t> counts_, before_;  // their counts, types apiece; those of the level before
  std::vector<Partial> slots_;                  // next level: width_.kept a stratum, sorted
  std::vector<std::uint32_t> filled_;           // per stratum
  std::size_t lowest_ = 0, highest_ = 0;        // strata in use
  std::vector<Trail> trails_;
  std::size_t levelStart_ = 0;
  std::vector<std::uint32_t> sequence_;
};

}  // namespace vsim::core
