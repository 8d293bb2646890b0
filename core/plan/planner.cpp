#include "core/plan/planner.h"

#include <fmt/format.h>

#include <map>

#include "core/base/checked.h"
#include "core/plan/bounds_search.h"
#include "core/plan/fixed_order.h"
#include "core/plan/problem_key.h"
#include "core/plan/reduced_problem.h"
#include "core/plan/shard_size_search.h"

namespace vsim::core {

Result<Layout> planGivenOrder(const LayoutProblem& problem) {
  if (auto error = problemError(problem)) return tl::unexpected(std::move(*error));
  std::int64_t placements = 0;
  return planGivenOrder(problem, reduce(problem), placements);
}

Result<Layout> planGivenOrder(const LayoutProblem& problem, const ReducedProblem& reduced,
                              std::int64_t& placements) {
  Layout layout{.devices = problem.devices};
  for (const PlanTensor& tensor : problem.tensors) layout.unitElements += tensor.elements;
  if (reduced.volume == 0) {
    layout.offsets.assign(problem.tensors.size(), 0);
    return layout;
  }

  const std::int64_t everything = roundUp(reduced.volume, reduced.unit);
  const std::int64_t placeable = placeableBound(reduced, everything);
  FixedOrder fits(reduced);
  const std::int64_t best = smallestShardSize(reduced, placeable, everything, fits).size;
  const std::int64_t bound = best == placeable ? placeable : blocksBound(reduced, placeable, best);
  placements += fits.placements();

  const auto total = checkedMultiply(best * problem.align, problem.devices);
  if (!total || *total > std::int64_t{1} << 62)
    return fail(
        fmt::format("{} shards of {} elements exceed 2^62 elements", problem.devices, best * problem.align));
  layout.shardElements = best * problem.align;
  layout.lowerBound = bound * problem.align;
  layout.offsets = fits.starts(best);
  for (std::int64_t& start : layout.offsets) start *= problem.align;
  return layout;
}

Result<std::vector<Layout>> planAll(std::span<const LayoutProblem> problems) {
  std::vector<Layout> layouts;
  layouts.reserve(problems.size());
  std::map<ProblemKey, std::size_t> known;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const auto [entry, isNew] = known.try_emplace(ProblemKey{&problems[i]}, i);
    if (!isNew) {
      // Shapes are no part of the key: a repeated problem still has to be a sound one.
      if (auto error = problemError(problems[i])) return tl::unexpected(std::move(*error));
      layouts.push_back(layouts[entry->second]);
      continue;
    }
    auto layout = planGivenOrder(problems[i]);
    if (!layout) return tl::unexpected(std::move(layout.error()));
    layouts.push_back(std::move(*layout));
  }
  return layouts;
}

}  // namespace vsim::core
