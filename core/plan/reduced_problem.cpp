#include "core/plan/reduced_problem.h"

#include <algorithm>
#include <numeric>

#include "core/base/checked.h"

namespace vsim::core {
namespace {

ReducedTensor reduceTensor(const PlanTensor& tensor, std::int64_t align) {
  ReducedTensor reduced;
  reduced.elements = ceilDivide(tensor.elements, align);
  // lcm(block, align) / align; a block above the tensor's size means one block, as does its size.
  reduced.block = tensor.block / std::gcd(tensor.block, align);
  reduced.block = std::clamp<std::int64_t>(reduced.block, 1, std::max<std::int64_t>(reduced.elements, 1));
  return reduced;
}

std::vector<TensorType> distinctTypes(std::vector<ReducedTensor> tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const ReducedTensor& a, const ReducedTensor& b) {
    return a.elements != b.elements ? a.elements > b.elements : a.block > b.block;
  });
  std::vector<TensorType> types;
  for (const ReducedTensor& tensor : tensors) {
    if (tensor.elements == 0) continue;
    if (types.empty() || !(types.back().tensor == tensor)) types.push_back({tensor, 0});
    ++types.back().count;
  }
  std::stable_sort(types.begin(), types.end(), [](const TensorType& a, const TensorType& b) {
    return a.tensor.elements * a.count > b.tensor.elements * b.count;
  });
  return types;
}

}  // namespace

ReducedProblem reduce(const LayoutProblem& problem) {
  ReducedProblem reduced;
  reduced.devices = problem.devices;
  reduced.align = problem.align;
  reduced.unit = problem.unit / problem.align;
  reduced.tensors.reserve(problem.tensors.size());
  for (const PlanTensor& tensor : problem.tensors) {
    reduced.tensors.push_back(reduceTensor(tensor, problem.align));
    reduced.volume += reduced.tensors.back().elements;
  }
  reduced.types = distinctTypes(reduced.tensors);
  reduced.volumeBound = roundUp(ceilDivide(reduced.volume, problem.devices), reduced.unit);
  return reduced;
}

}  // namespace vsim::core
