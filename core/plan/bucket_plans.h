#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/plan/order_search.h"

namespace vsim::core {

/// What planning all buckets of a model may cost.
struct BucketPlanOptions {
  bool searchOrder = true;  // false: the given order's exact optimum
  /// Shared by all buckets; see SearchOptions. Not looked at when `seconds` is set.
  std::int64_t placements = SearchOptions{}.placements;
  /// Above zero: the search takes so long, shared by all buckets, whatever it places; needs `now`. Layouts
  /// then depend on the machine.
  double seconds = 0;
  /// Seconds since some moment: measures BucketPlan::seconds, and the budget in time. May be empty.
  std::function<double()> now{};
};

struct BucketPlan {
  SearchResult found;
  double seconds = 0;  // spent on this bucket; 0 without a clock, or when an equal one came before
};

/// A layout for every problem, in order. Given orders are planned first, so that what is proven by then needs
/// no budget; the rest share it evenly, and what one leaves goes to the next. Problems that are equal but for
/// names are planned once. The first error ends it: see planGivenOrder().
[[nodiscard]] Result<std::vector<BucketPlan>> planBuckets(std::span<const LayoutProblem> problems,
                                                          const BucketPlanOptions& options = {});

}  // namespace vsim::core
