#include "core/plan/cut_blocks.h"

#include <algorithm>

#include "core/base/checked.h"

namespace vsim::core {
namespace {

/// Cuts at first, first + every, first + 2 * every, ... as long as they lie inside the tensor.
bool cutsBlocks(std::int64_t elements, std::int64_t block, std::int64_t first, std::int64_t every) {
  if (first >= elements) return false;
  if (first % block != 0) return true;
  return every < elements - first && every % block != 0;
}

/// Slices of ceil(size / devices) along the dimension that the rule cuts.
bool slicesCutBlocks(const PlanTensor& tensor, std::int64_t block, std::int64_t devices) {
  const auto dim = static_cast<std::size_t>(tensor.shardDim);
  std::int64_t inner = 1;
  for (std::size_t d = dim + 1; d < tensor.shape.size(); ++d) inner *= tensor.shape[d];
  const std::int64_t slice = ceilDivide(tensor.shape[dim], devices) * inner;
  const std::int64_t period = tensor.shape[dim] * inner;
  if (cutsBlocks(period, block, slice, slice)) return true;
  // Along a later dimension the same cuts come again for every index before it.
  return slice < period && cutsBlocks(tensor.elements, block, period, period);
}

}  // namespace

std::int64_t tensorsWithCutBlocks(const LayoutProblem& problem, const LayoutRule& rule,
                                  const Layout& layout) {
  // Slots of layouts that are not contiguous are cut in the shapes of the promise.
  const LayoutProblem promise = layout.contiguous ? LayoutProblem{} : rule.promise(problem);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const PlanTensor& tensor = problem.tensors[i];
    if (tensor.elements == 0) continue;
    const std::int64_t block = std::min(tensor.block, tensor.elements);
    if (layout.contiguous) {
      const std::int64_t first = layout.shardElements - layout.offsets[i] % layout.shardElements;
      count += cutsBlocks(tensor.elements, block, first, layout.shardElements) ? 1 : 0;
    } else {
      count += slicesCutBlocks(promise.tensors[i], block, layout.devices) ? 1 : 0;
    }
  }
  return count;
}

}  // namespace vsim::core
