#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/plan/layout.h"

namespace vsim::core {

/// How much to search. The budget counts work, not time, so that the result is the same on every machine.
struct SearchOptions {
  /// Tensors placed, over all orders and shard sizes tried. The given order is planned whatever the budget.
  /// The default takes about 50 ms for all buckets of a model of 671 billion parameters (see
  /// bench/plan_bench.cpp).
  std::int64_t placements = 3'000'000;
  /// Ends the search early when it answers true; asked only when given. The result then depends on the clock.
  std::function<bool()> expired{};
};

struct SearchResult {
  Layout layout;                     // offsets in the problem's order; lowerBound holds for every order
  bool provenOptimal = false;        // no order has a smaller shard: shardElements == lowerBound
  std::int64_t placementsTried = 0;  // work spent on this problem, the given order's included
  /// Where the order is from: "given"; sorted: "block" or "block-ascending", "size"; "crossing" (tensors with
  /// small blocks kept for the shard boundaries); "beam"; "counts" (exact program over counts of equal
  /// tensors).
  std::string order = "given";
};

/// The smallest shard size found over the orders of the tensors, never above that of the given order. Memory:
/// O(tensors), and at most about 150 MB for the search. Errors: those of planGivenOrder().
[[nodiscard]] Result<SearchResult> searchOrders(const LayoutProblem& problem,
                                                const SearchOptions& options = {});

/// searchOrders for every problem, in order, under one budget: what easy problems leave goes to the hard
/// ones. Problems equal in sizes, blocks, devices, unit and alignment (names do not count) are searched once;
/// the repeated ones report no placements. The first error ends it.
[[nodiscard]] Result<std::vector<SearchResult>> searchAll(std::span<const LayoutProblem> problems,
                                                          const SearchOptions& options = {});

}  // namespace vsim::core
