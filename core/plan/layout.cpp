#include "core/plan/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/checked.h"

namespace vsim::core {
namespace {

// Leaves room for sums of two positions and for rounding up in 64 bits.
constexpr std::int64_t kLargestSize = std::int64_t{1} << 60;

std::optional<Error> tensorError(const PlanTensor& tensor) {
  const auto error = [&](const std::string& what) {
    return Error{.message = fmt::format("tensor '{}': {}", tensor.name, what)};
  };
  if (tensor.elements < 0) return error(fmt::format("{} elements", tensor.elements));
  if (tensor.block < 1) return error(fmt::format("a block of {} elements", tensor.block));
  std::optional<std::int64_t> product = 1;
  for (const std::int64_t size : tensor.shape) {
    if (size < 0) return error(fmt::format("negative size in shape ({})", fmt::join(tensor.shape, ", ")));
    if (product) product = checkedMultiply(*product, size);
  }
  if (!product || *product != tensor.elements)
    return error(
        fmt::format("shape ({}) does not have {} elements", fmt::join(tensor.shape, ", "), tensor.elements));
  return std::nullopt;
}

}  // namespace

double Layout::paddingRatio() const {
  if (unitElements == 0) return 0;
  return static_cast<double>(totalElements() - unitElements) / static_cast<double>(unitElements);
}

double Layout::gapRatio() const {
  if (lowerBound == 0) return 0;
  return static_cast<double>(shardElements - lowerBound) / static_cast<double>(lowerBound);
}

std::optional<Error> problemError(const LayoutProblem& problem) {
  if (problem.devices < 1 || problem.devices > kLargestSize)
    return Error{.message = fmt::format("a layout for {} devices", problem.devices)};
  if (problem.align < 1 || problem.unit < 1 || problem.unit > kLargestSize)
    return Error{.message = fmt::format("unit {} and alignment {} must be at least 1 and fit 2^60",
                                        problem.unit, problem.align)};
  if (problem.unit % problem.align != 0)
    return Error{
        .message = fmt::format("unit {} is not a multiple of the alignment {}", problem.unit, problem.align)};
  std::int64_t sum = problem.unit;
  for (const PlanTensor& tensor : problem.tensors) {
    if (auto error = tensorError(tensor)) return error;
    const auto next = checkedAdd(sum, tensor.elements);
    const auto padded = next ? checkedAdd(*next, problem.align) : std::nullopt;
    if (!padded || *padded > kLargestSize)
      return Error{.message = fmt::format("the tensors up to '{}' exceed 2^60 elements", tensor.name)};
    sum = *padded;
  }
  return std::nullopt;
}

}  // namespace vsim::core
