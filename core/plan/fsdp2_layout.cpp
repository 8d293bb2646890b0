#include "core/plan/fsdp2_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.h"
#include "core/plan/baseline_layout.h"

namespace vsim::core {
namespace {

std::int64_t shardedSize(const PlanTensor& tensor) {
  return tensor.shape[static_cast<std::size_t>(tensor.shardDim)];
}

std::optional<std::string> refusal(const PlanTensor& tensor, std::int64_t devices) {
  if (tensor.shape.empty()) return "a scalar cannot be sharded";
  if (tensor.shardDim < 0 || tensor.shardDim >= static_cast<int>(tensor.shape.size()))
    return fmt::format("has no dimension {} to shard", tensor.shardDim);
  if (tensor.shardDim > 0 && shardedSize(tensor) % devices != 0)
    return fmt::format("dimension {} of size {} does not divide by {} devices", tensor.shardDim,
                       shardedSize(tensor), devices);
  return std::nullopt;
}

}  // namespace

Result<Layout> fsdp2Layout(const LayoutProblem& problem) {
  if (auto error = problemError(problem)) return tl::unexpected(std::move(*error));
  std::vector<std::int64_t> offsets;
  offsets.reserve(problem.tensors.size());
  std::int64_t shard = 0;
  for (const PlanTensor& tensor : problem.tensors) {
    if (const auto why = refusal(tensor, problem.devices))
      return fail(fmt::format("tensor '{}': {}", tensor.name, *why));
    offsets.push_back(shard);
    shard += fsdp2Slice(tensor, problem.devices, 0).paddedElements;
  }
  return baselineLayout(problem, std::move(offsets), shard, false);
}

Fsdp2Slice fsdp2Slice(const PlanTensor& tensor, std::int64_t devices, std::int64_t rank) {
  const std::int64_t size = shardedSize(tensor);
  const std::int64_t perSlice = size == 0 ? 0 : tensor.elements / size;
  Fsdp2Slice slice;
  slice.paddedCount = ceilDivide(size, devices);
  slice.first = std::min(rank * slice.paddedCount, size);
  slice.count = std::min(slice.paddedCount, size - slice.first);
  slice.elements = slice.count * perSlice;
  slice.paddedElements = slice.paddedCount * perSlice;
  return slice;
}

std::vector<std::int64_t> fsdp2LocalShape(const PlanTensor& tensor, std::int64_t devices, std::int64_t rank) {
  std::vector<std::int64_t> shape = tensor.shape;
  shape[static_cast<std::size_t>(tensor.shardDim)] = fsdp2Slice(tensor, devices, rank).count;
  return shape;
}

}  // namespace vsim::core
