#include "core/plan/baseline_layout.h"

#include <fmt/format.h>

#include "core/base/checked.h"

namespace vsim::core {

Result<Layout> baselineLayout(const LayoutProblem& problem, std::vector<std::int64_t> offsets,
                              std::int64_t shardElements, bool contiguous) {
  const auto total = checkedMultiply(problem.devices, shardElements);
  if (!total || *total > std::int64_t{1} << 62)
    return fail(fmt::format("{} shards of {} elements exceed 2^62 elements", problem.devices, shardElements));
  Layout layout{.devices = problem.devices, .shardElements = shardElements, .contiguous = contiguous};
  for (const PlanTensor& tensor : problem.tensors) layout.unitElements += tensor.elements;
  layout.lowerBound = ceilDivide(layout.unitElements, problem.devices);
  layout.offsets = std::move(offsets);
  return layout;
}

}  // namespace vsim::core
