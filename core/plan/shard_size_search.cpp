#include "core/plan/shard_size_search.h"

#include <numeric>

namespace vsim::core {
namespace {

// lcm of both, or 0 when it exceeds `limit`.
std::int64_t cappedLcm(std::int64_t a, std::int64_t b, std::int64_t limit) {
  const __int128 lcm = static_cast<__int128>(a / std::gcd(a, b)) * b;
  return lcm > limit ? 0 : static_cast<std::int64_t>(lcm);
}

void sortUnique(std::vector<std::int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

std::vector<std::int64_t> shardSizeClasses(const ReducedProblem& problem, std::int64_t smallest,
                                           std::int64_t feasible) {
  std::int64_t base = problem.unit;
  std::vector<std::int64_t> optional;
  for (const TensorType& type : problem.types) {
    const auto [elements, block] = type.tensor;
    if (elements <= smallest || block >= elements) continue;
    if (elements / 2 < feasible) {
      optional.push_back(block);
    } else {
      base = cappedLcm(base, block, feasible);
      if (base == 0) return {};
    }
  }
  sortUnique(optional);
  std::vector<std::int64_t> classes{base};
  for (const std::int64_t block : optional) {
    const std::size_t known = classes.size();
    for (std::size_t i = 0; i < known; ++i)
      if (const std::int64_t d = cappedLcm(classes[i], block, feasible)) classes.push_back(d);
    sortUnique(classes);
  }
  return classes;
}

}  // namespace vsim::core
