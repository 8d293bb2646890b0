#include "core/plan/bounds.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/plan/bounds_search.h"
#include "core/plan/reduced_problem.h"
#include "core/plan/shard_size_search.h"

namespace vsim::core {
namespace {

// Leaving types out is a relaxation as well; the largest by volume carry the bound.
constexpr std::size_t kCountedTypes = 64;
constexpr std::int64_t kFractions = 6;
constexpr std::int64_t kShardFractions = 24;

/// Does every tensor alone have a valid start?
class Placeable {
 public:
  Placeable(const ReducedProblem& problem, std::int64_t smallest) {
    for (const TensorType& type : problem.types)
      if (type.tensor.elements > smallest) large_.push_back({type.tensor, false});
  }
  void enterClass(std::int64_t d) {
    for (Large& large : large_) large.wholeShards = d % large.tensor.block == 0;
  }
  bool operator()(std::int64_t shard) const {
    return std::all_of(large_.begin(), large_.end(), [&](const Large& large) {
      const auto [elements, block] = large.tensor;
      if (elements <= shard) return true;
      if (block >= elements || block > shard) return false;
      return large.wholeShards || elements - shard <= shard - shard % block;
    });
  }

 private:
  struct Large {
    ReducedTensor tensor;
    bool wholeShards;
  };
  std::vector<Large> large_;
};

/// Sum over the types of floor(x / h) over their blocks.
std::int64_t weight(const ReducedProblem& problem, std::int64_t h) {
  std::int64_t sum = 0;
  const std::size_t types = std::min(problem.types.size(), kCountedTypes);
  for (std::size_t i = 0; i < types; ++i) {
    const auto [elements, block] = problem.types[i].tensor;
    const std::int64_t full = elements / block, rest = elements % block;
    if (h <= block || h <= rest) sum += problem.types[i].count * (full * (block / h) + rest / h);
  }
  return sum;
}

class PlaceableAndPacked {
 public:
  PlaceableAndPacked(const ReducedProblem& problem, std::int64_t smallest)
      : problem_(problem), placeable_(problem, smallest) {}
  void enterClass(std::int64_t d) { placeable_.enterClass(d); }
  bool operator()(std::int64_t shard) const {
    if (!placeable_(shard)) return false;
    // Items just above a fraction of the shard waste the most: h just above S / (q + 1).
    for (std::int64_t q = 1; q <= kShardFractions; ++q) {
      const std::int64_t h = shard / (q + 1) + 1;
      if (weight(problem_, h) > static_cast<__int128>(problem_.devices) * (shard / h)) return false;
    }
    return true;
  }

 private:
  const ReducedProblem& problem_;
  Placeable placeable_;
};

/// The block inequality with h taken from the blocks themselves: there its left side does not depend on S.
std::int64_t fixedWeightBound(const ReducedProblem& problem) {
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < std::min(problem.types.size(), kCountedTypes); ++i) {
    const auto [elements, block] = problem.types[i].tensor;
    for (std::int64_t part = 1; part <= kFractions; ++part)
      for (const std::int64_t h : {block / part, elements % block / part})
        if (h > 0) steps.push_back(h);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  std::int64_t bound = 0;
  for (const std::int64_t h : steps)
    bound = std::max(bound, h * ceilDivide(weight(problem, h), problem.devices));
  return roundUp(bound, problem.unit);
}

}  // namespace

std::int64_t placeableBound(const ReducedProblem& problem, std::int64_t feasible) {
  const std::int64_t smallest = std::min(spanBound(problem), feasible);
  Placeable fits(problem, smallest);
  const SmallestShardSize found = smallestShardSize(problem, smallest, feasible, fits);
  return found.exact ? found.size : smallest;
}

std::int64_t blocksBound(const ReducedProblem& problem, std::int64_t placeable, std::int64_t feasible) {
  const std::int64_t smallest = std::min(std::max(placeable, fixedWeightBound(problem)), feasible);
  PlaceableAndPacked fits(problem, smallest);
  const SmallestShardSize found = smallestShardSize(problem, smallest, feasible, fits);
  return found.exact ? found.size : smallest;
}

Result<LowerBounds> lowerBounds(const LayoutProblem& problem, std::optional<std::int64_t> feasible) {
  if (auto error = problemError(problem)) return tl::unexpected(std::move(*error));
  const ReducedProblem reduced = reduce(problem);
  if (reduced.volume == 0) return LowerBounds{};
  std::int64_t limit = roundUp(reduced.volume, reduced.unit);
  if (feasible)
    limit = std::clamp(roundUp(*feasible / problem.align, reduced.unit), reduced.volumeBound, limit);
  LowerBounds bounds;
  bounds.volume = reduced.volumeBound * problem.align;
  const std::int64_t placeable = placeableBound(reduced, limit);
  bounds.placeable = placeable * problem.align;
  bounds.blocks = blocksBound(reduced, placeable, limit) * problem.align;
  return bounds;
}

}  // namespace vsim::core
