#include "core/plan/order_search.h"

#include "core/plan/planner.h"

namespace vsim::core {

Result<SearchResult> searchOrders(const LayoutProblem& problem, const SearchOptions&) {
  auto layout = planGivenOrder(problem);
  if (!layout) return tl::unexpected(std::move(layout.error()));
  SearchResult result{.layout = std::move(*layout)};
  result.provenOptimal = result.layout.shardElements == result.layout.lowerBound;
  return result;
}

Result<std::vector<SearchResult>> searchAll(std::span<const LayoutProblem> problems,
                                            const SearchOptions& options) {
  std::vector<SearchResult> results;
  results.reserve(problems.size());
  for (const LayoutProblem& problem : problems) {
    auto result = searchOrders(problem, options);
    if (!result) return tl::unexpected(std::move(result.error()));
    results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace vsim::core
