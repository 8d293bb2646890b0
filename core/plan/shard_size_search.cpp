#include "core/plan/shard_size_search.h"

#include <numeric>

namespace vsim::core {
namespace {

// Every class costs a pass over the tensors: no more than a second or so allows.
constexpr std::size_t kMostClasses = 4096, kFewestClasses = 64, kMostPasses = std::size_t{1} << 23;

// The sizes that are still of interest: at least `smallest`, below `feasible`.
struct Range {
  std::int64_t smallest, feasible;

  // lcm of both, or 0 when none of its multiples is of interest. Then none of any further lcm's is either.
  [[nodiscard]] std::int64_t lcm(std::int64_t a, std::int64_t b) const {
    const __int128 wide = static_cast<__int128>(a / std::gcd(a, b)) * b;
    if (wide >= feasible) return 0;
    const auto result = static_cast<std::int64_t>(wide);
    return (feasible - 1) / result * result < smallest ? 0 : result;
  }
};

void sortUnique(std::vector<std::int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

ShardSizeClasses shardSizeClasses(const ReducedProblem& problem, std::int64_t smallest,
                                  std::int64_t feasible) {
  const Range range{smallest, feasible};
  std::int64_t base = problem.unit;
  std::vector<std::int64_t> optional;
  for (const TensorType& type : problem.types) {
    const auto [elements, block] = type.tensor;
    if (elements <= smallest || block >= elements) continue;
    if (elements / 2 < feasible) {
      optional.push_back(block);
    } else {
      base = range.lcm(base, block);
      if (base == 0) return {};
    }
  }
  sortUnique(optional);
  const std::size_t most = std::clamp(kMostPasses / std::max<std::size_t>(problem.tensors.size(), 1),
                                      kFewestClasses, kMostClasses);
  ShardSizeClasses result{.multiples = {base}};
  std::vector<std::int64_t>& classes = result.multiples;
  for (const std::int64_t block : optional) {
    if (range.lcm(base, block) == 0) continue;
    const std::size_t known = classes.size();
    for (std::size_t i = 0; i < known; ++i)
      if (const std::int64_t d = range.lcm(classes[i], block); d != 0 && d != classes[i])
        classes.push_back(d);
    if (classes.size() > known) sortUnique(classes);
    if (classes.size() > most) {
      classes.resize(most);
      result.complete = false;
    }
  }
  return result;
}

std::int64_t spanBound(const ReducedProblem& problem) {
  std::int64_t bound = problem.volumeBound;
  std::vector<ReducedTensor> large;
  for (const TensorType& type : problem.types) {
    bound = std::max(bound, type.tensor.block);
    large.push_back(type.tensor);
  }
  std::sort(large.begin(), large.end(),
            [](const ReducedTensor& a, const ReducedTensor& b) { return a.elements > b.elements; });
  __int128 common = problem.unit;
  for (const ReducedTensor& tensor : large) {
    const std::int64_t half = tensor.elements / 2;
    if (half < bound) break;
    // S <= half means at least two boundaries in this tensor and all longer ones: S is a multiple of their
    // blocks.
    common = common / std::gcd(static_cast<std::int64_t>(common), tensor.block) * tensor.block;
    if (common > half) {
      bound = half + 1;
      break;
    }
  }
  return roundUp(bound, problem.unit);
}

}  // namespace vsim::core
