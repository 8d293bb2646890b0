#include "core/plan/count_types.h"

#include <algorithm>
#include <numeric>

namespace vsim::core {

CountedProblem::CountedProblem(const ReducedProblem& problem, ElementWise mode) {
  TensorOrder sorted(problem.tensors.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    const ReducedTensor &x = problem.tensors[a], &y = problem.tensors[b];
    return x.elements != y.elements ? x.elements > y.elements : x.block > y.block;
  });
  CountedType glued{.tensor = {0, 1}};
  for (const std::uint32_t i : sorted) {
    const ReducedTensor& tensor = problem.tensors[i];
    if (tensor.elements == 0 || (tensor.block == 1 && mode == ElementWise::Last)) {
      trailing.push_back(i);
      trailingVolume += tensor.elements;
    } else if (tensor.block == 1 && mode == ElementWise::Glued) {
      glued.tensor.elements += tensor.elements;
      glued.members.push_back(i);
      glued.count = 1;
    } else {
      if (types.empty() || !(types.back().tensor == tensor)) types.push_back({.tensor = tensor});
      types.back().members.push_back(i);
      ++types.back().count;
    }
  }
  if (glued.count != 0) types.push_back(std::move(glued));
  for (const CountedType& type : types) {
    items += type.count;
    volume += type.count * type.tensor.elements;
  }
  std::stable_sort(types.begin(), types.end(), [](const CountedType& a, const CountedType& b) {
    return a.count * a.tensor.elements > b.count * b.tensor.elements;
  });
}

std::int64_t CountedProblem::states() const {
  constexpr std::int64_t kMany = std::int64_t{1} << 40;
  std::int64_t product = 1;
  for (const CountedType& type : types) {
    if (type.count >= kMany / product) return kMany + 1;
    product *= type.count + 1;
  }
  return product;
}

TensorOrder CountedProblem::expand(const std::vector<std::uint32_t>& sequence) const {
  TensorOrder order;
  std::vector<std::size_t> used(types.size(), 0);
  for (const std::uint32_t t : sequence) {
    const CountedType& type = types[t];
    if (type.count == 1)  // also the glued ones: all members
      order.insert(order.end(), type.members.begin(), type.members.end());
    else
      order.push_back(type.members[used[t]++]);
  }
  order.insert(order.end(), trailing.begin(), trailing.end());
  return order;
}

}  // namespace vsim::core
