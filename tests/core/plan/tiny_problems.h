#pragma once

#include <algorithm>
#include <random>
#include <utility>

#include "core/plan/layout.h"

/// Problems small enough to try every start of every tensor, and that search.
namespace vsim::test {

using core::LayoutProblem;
using core::PlanTensor;

inline PlanTensor flat(std::int64_t elements, std::int64_t block) {
  return {.name = "t", .shape = {elements}, .elements = elements, .block = block};
}

inline bool validStart(const PlanTensor& tensor, std::int64_t start, std::int64_t shard) {
  for (std::int64_t k = start / shard + 1; k * shard < start + tensor.elements; ++k)
    if ((k * shard - start) % tensor.block != 0) return false;
  return true;
}

// Every start of every tensor after the one before, no earliest-start rule.
inline bool placesFrom(const LayoutProblem& problem, std::int64_t shard, std::size_t i, std::int64_t from) {
  if (i == problem.tensors.size()) return true;
  const PlanTensor& tensor = problem.tensors[i];
  for (std::int64_t start = from; start + tensor.elements <= shard * problem.devices; ++start)
    if (start % problem.align == 0 && validStart(tensor, start, shard) &&
        placesFrom(problem, shard, i + 1, start + tensor.elements))
      return true;
  return false;
}

inline std::int64_t exhaustive(const LayoutProblem& problem) {
  for (std::int64_t shard = problem.unit;; shard += problem.unit)
    if (placesFrom(problem, shard, 0, 0)) return shard;
}

// The smallest over all orders: bounds must hold for it.
inline std::int64_t exhaustiveOrders(LayoutProblem problem) {
  std::sort(problem.tensors.begin(), problem.tensors.end(), [](const PlanTensor& a, const PlanTensor& b) {
    return std::pair(a.elements, a.block) < std::pair(b.elements, b.block);
  });
  std::int64_t best = exhaustive(problem);
  while (std::next_permutation(problem.tensors.begin(), problem.tensors.end(),
                               [](const PlanTensor& a, const PlanTensor& b) {
                                 return std::pair(a.elements, a.block) < std::pair(b.elements, b.block);
                               }))
    best = std::min(best, exhaustive(problem));
  return best;
}

inline LayoutProblem randomProblem(std::mt19937& random, int mostTensors, int mostElements) {
  LayoutProblem problem;
  problem.devices = 1 + static_cast<std::int64_t>(random() % 5);
  problem.align = 1 + static_cast<std::int64_t>(random() % 3);
  problem.unit = problem.align * (1 + static_cast<std::int64_t>(random() % 3));
  const int count = 1 + static_cast<int>(random() % static_cast<unsigned>(mostTensors));
  for (int i = 0; i < count; ++i) {
    const std::int64_t elements =
        1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(mostElements));
    problem.tensors.push_back(flat(elements, 1 + static_cast<std::int64_t>(random() % 8)));
  }
  return problem;
}

}  // namespace vsim::test
