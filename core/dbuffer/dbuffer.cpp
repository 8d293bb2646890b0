#include "core/dbuffer/dbuffer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.h"
#include "core/plan/fsdp2_layout.h"
#include "core/plan/verifier.h"

namespace vsim::core {

DBuffer::DBuffer(std::vector<PlanTensor> tensors, Layout layout)
    : tensors_(std::move(tensors)), layout_(std::move(layout)) {
  order_.reserve(tensors_.size());
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (tensors_[i].elements > 0) order_.push_back(i);
  const auto before = [&](std::size_t a, std::size_t b) { return layout_.offsets[a] < layout_.offsets[b]; };
  if (!std::is_sorted(order_.begin(), order_.end(), before)) std::sort(order_.begin(), order_.end(), before);
}

Result<DBuffer> DBuffer::make(std::vector<PlanTensor> tensors, Layout layout) {
  LayoutProblem problem{.tensors = std::move(tensors), .devices = layout.devices};
  if (auto error = problemError(problem)) return tl::unexpected(std::move(*error));
  const Errors errors = verifyLayout(problem, layout);
  if (!errors.empty()) return fail(fmt::format("not a layout of these tensors: {}", errors.front().message));
  return DBuffer(std::move(problem.tensors), std::move(layout));
}

std::vector<TensorPart> DBuffer::parts(std::int64_t rank) const {
  VSIM_CHECK(rank >= 0 && rank < devices(), "a rank outside the buffer's group");
  return layout_.contiguous ? contiguousParts(rank) : slotParts(rank);
}

std::vector<TensorPart> DBuffer::contiguousParts(std::int64_t rank) const {
  const std::int64_t begin = sliceOffset(rank), end = begin + shardElements();
  std::vector<TensorPart> parts;
  // Tensors don't overlap, so their ends ascend as their starts do.
  auto it = std::partition_point(order_.begin(), order_.end(), [&](std::size_t i) {
    return layout_.offsets[i] + tensors_[i].elements <= begin;
  });
  for (; it != order_.end() && layout_.offsets[*it] < end; ++it) {
    const std::int64_t start = layout_.offsets[*it];
    const std::int64_t from = std::max(start, begin), to = std::min(start + tensors_[*it].elements, end);
    parts.push_back({*it, from - start, from - begin, to - from});
  }
  return parts;
}

std::vector<TensorPart> DBuffer::slotParts(std::int64_t rank) const {
  std::vector<TensorPart> parts;
  for (const std::size_t i : order_) {
    const PlanTensor& tensor = tensors_[i];
    const Fsdp2Slice slice = fsdp2Slice(tensor, devices(), rank);
    if (slice.elements == 0) continue;
    // Along dimension d the rank holds one run for every index of the dimensions before d.
    std::int64_t runs = 1;
    for (int d = 0; d < tensor.shardDim; ++d) runs *= tensor.shape[static_cast<std::size_t>(d)];
    const std::int64_t size = tensor.shape[static_cast<std::size_t>(tensor.shardDim)];
    const std::int64_t inner = tensor.elements / runs / size, length = slice.count * inner;
    for (std::int64_t run = 0; run < runs; ++run)
      parts.push_back({i, (run * size + slice.first) * inner, layout_.offsets[i] + run * length, length});
  }
  return parts;
}

std::int64_t DBuffer::localElements(std::size_t tensor, std::int64_t rank) const {
  if (tensors_[tensor].elements == 0) return 0;
  if (!layout_.contiguous) return fsdp2Slice(tensors_[tensor], devices(), rank).elements;
  const std::int64_t start = layout_.offsets[tensor], end = start + tensors_[tensor].elements;
  const std::int64_t from = std::max(start, sliceOffset(rank));
  const std::int64_t to = std::min(end, sliceOffset(rank) + shardElements());
  return std::max<std::int64_t>(to - from, 0);
}

std::int64_t DBuffer::usedElements(std::int64_t rank) const {
  std::int64_t used = 0;
  for (const TensorPart& part : parts(rank)) used += part.elements;
  return used;
}

std::vector<std::size_t> DBuffer::wholeTensors(std::int64_t rank) const {
  std::vector<std::size_t> whole;
  for (const TensorPart& part : parts(rank))
    if (part.elements == tensors_[part.tensor].elements) whole.push_back(part.tensor);
  return whole;
}

std::pair<std::int64_t, std::int64_t> DBuffer::owners(std::size_t tensor) const {
  const PlanTensor& t = tensors_[tensor];
  if (t.elements == 0) return {0, 0};
  if (!layout_.contiguous) {
    const std::int64_t count = fsdp2Slice(t, devices(), 0).paddedCount;
    return {0, ceilDivide(t.shape[static_cast<std::size_t>(t.shardDim)], count)};
  }
  const std::int64_t start = layout_.offsets[tensor];
  return {start / shardElements(), (start + t.elements - 1) / shardElements() + 1};
}

RaggedShard DBuffer::placement(std::size_t tensor) const {
  VSIM_CHECK(layout_.contiguous, "a ragged placement of a per-parameter layout");
  std::vector<Interval> runs(static_cast<std::size_t>(devices()));
  std::int64_t end = 0;
  for (std::size_t rank = 0; rank < runs.size(); ++rank) {
    const std::int64_t size = localElements(tensor, static_cast<std::int64_t>(rank));
    runs[rank] = {end, end + size};
    end += size;
  }
  auto placement = RaggedShard::fromIntervals(tensors_[tensor].shape, runs);
  VSIM_CHECK(placement.has_value(), "the parts of a verified layout cover their tensor");
  return std::move(*placement);
}

bool DBuffer::slicesAligned(DType type, Bytes bytes) const { return shardBytes(type) % bytes == 0; }

bool DBuffer::tensorsAligned(DType type, Bytes bytes) const {
  return std::all_of(order_.begin(), order_.end(),
                     [&](std::size_t i) { return layout_.offsets[i] * bytesOf(type) % bytes == 0; }) &&
         (slicesAligned(type, bytes) || !layout_.contiguous);
}

}  // namespace vsim::core
