#include "core/plan/fsdp1_layout.h"

#include <fmt/format.h>

#include "core/base/checked.h"
#include "core/plan/baseline_layout.h"

namespace vsim::core {
namespace {

// FSDP1's own constant, for views that compiled kernels may read with vector instructions.
constexpr std::int64_t kAlignmentBytes = 16;

bool elementFits(const LayoutProblem& problem) {
  return problem.elementBytes >= 1 && problem.elementBytes <= kAlignmentBytes;
}

Result<Layout> flatParameter(const LayoutProblem& problem, std::int64_t align) {
  std::vector<std::int64_t> offsets;
  offsets.reserve(problem.tensors.size());
  std::int64_t end = 0;
  for (const PlanTensor& tensor : problem.tensors) {
    offsets.push_back(roundUp(end, align));
    end = offsets.back() + tensor.elements;
  }
  return baselineLayout(problem, std::move(offsets), ceilDivide(end, problem.devices), true);
}

}  // namespace

Result<Layout> fsdp1Layout(const LayoutProblem& problem) {
  if (auto error = problemError(problem)) return tl::unexpected(std::move(*error));
  if (!elementFits(problem))
    return fail(fmt::format("elements of {} bytes cannot be aligned to {} bytes", problem.elementBytes,
                            kAlignmentBytes));
  return flatParameter(problem, kAlignmentBytes / problem.elementBytes);
}

Result<Layout> fsdp1UnalignedLayout(const LayoutProblem& problem) {
  if (auto error = problemError(problem)) return tl::unexpected(std::move(*error));
  return flatParameter(problem, 1);
}

LayoutProblem fsdp1UnalignedPromise(const LayoutProblem& problem) {
  LayoutProblem promise = problem;
  promise.unit = promise.align = 1;
  for (PlanTensor& tensor : promise.tensors) tensor.block = 1;
  return promise;
}

LayoutProblem fsdp1Promise(const LayoutProblem& problem) {
  LayoutProblem promise = fsdp1UnalignedPromise(problem);
  if (elementFits(problem)) promise.align = kAlignmentBytes / problem.elementBytes;
  return promise;
}

}  // namespace vsim::core
