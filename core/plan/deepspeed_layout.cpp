#include "core/plan/deepspeed_layout.h"

#include "core/base/checked.h"
#include "core/plan/baseline_layout.h"

namespace vsim::core {

Result<Layout> deepspeedLayout(const LayoutProblem& problem) {
  if (auto error = problemError(problem)) return tl::unexpected(std::move(*error));
  std::vector<std::int64_t> offsets;
  offsets.reserve(problem.tensors.size());
  std::int64_t shard = 0;
  for (const PlanTensor& tensor : problem.tensors) {
    offsets.push_back(shard);
    shard += ceilDivide(tensor.elements, problem.devices);
  }
  return baselineLayout(problem, std::move(offsets), shard, false);
}

LayoutProblem deepspeedPromise(const LayoutProblem& problem) {
  LayoutProblem promise = problem;
  promise.unit = promise.align = 1;
  for (PlanTensor& tensor : promise.tensors) {
    tensor.shape = {tensor.elements};
    tensor.block = 1;
    tensor.shardDim = 0;
  }
  return promise;
}

}  // namespace vsim::core
