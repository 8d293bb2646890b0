#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/checked.h"
#include "core/plan/reduced_problem.h"

namespace vsim::core {

struct ShardSizeClasses {
  std::vector<std::int64_t> multiples{};  // ascending
  bool complete = true;                   // false: there are more, too many to try
};

/// The values D of which a shard size S in [smallest, feasible) may be a multiple: the unit times the blocks
/// of those tensors that are then allowed to fill whole shards, as lcm; only those with a multiple in the
/// range. Only tensors larger than `smallest` can fill a shard; those of at least 2 * feasible must, as two
/// boundaries at distance S fall inside them. Models have a dozen at most; hundreds of large tensors whose
/// blocks have no common divisor would have millions, and only the smallest few thousand are listed.
[[nodiscard]] ShardSizeClasses shardSizeClasses(const ReducedProblem& problem, std::int64_t smallest,
                                                std::int64_t feasible);

/// A size below which no single tensor's blocks and length allow any: not less than a block, and where the
/// largest tensors would span two shards, a multiple of all their blocks. At least the volume bound. Narrows
/// the searches.
[[nodiscard]] std::int64_t spanBound(const ReducedProblem& problem);

/// What smallestShardSize() found.
struct SmallestShardSize {
  std::int64_t size = 0;
  bool exact = true;  // false: sizes of classes that are not listed may fit too
};

/// The smallest S in [smallest, feasible] that `fits`, a multiple of some class D; `feasible` must fit.
/// fits.enterClass(D) is called before fits(S) for S = c * D. Inside a class feasibility is monotone as long
/// as whole shards are allowed only to tensors whose block divides D (heads move up with their boundary,
/// tails stay), so that a binary search is exact; over all S it is not. A class that fails just below the
/// best size so far is done after one test. Sizes are in units of the alignment, multiples of the unit.
template <class Fits>
SmallestShardSize smallestShardSize(const ReducedProblem& problem, std::int64_t smallest,
                                    std::int64_t feasible, Fits& fits) {
  std::int64_t best = feasible;
  const auto search = [&](std::int64_t d) {
    std::int64_t low = std::max<std::int64_t>(ceilDivide(smallest, d), 1), high = (best - 1) / d;
    if (low > high) return;
    fits.enterClass(d);
    if (!fits(high * d)) return;
    // Below low all fail, high fits. Sizes close above the bound are the likely ones: widen from there, then
    // halve.
    for (std::int64_t step = 1; low < high; step *= 4) {
      const std::int64_t probe = low + std::min(step, high - low) - 1;
      if (fits(probe * d)) {
        high = probe;
        break;
      }
      low = probe + 1;
    }
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (fits(middle * d))
        high = middle;
      else
        low = middle + 1;
    }
    best = low * d;
  };
  search(problem.unit);
  if (best == smallest) return {best};
  const ShardSizeClasses classes = shardSizeClasses(problem, smallest, best);
  for (const std::int64_t d : classes.multiples) search(d);
  return {best, classes.complete || best == smallest};
}

}  // namespace vsim::core
