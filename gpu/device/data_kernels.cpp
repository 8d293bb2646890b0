#include "gpu/device/data_kernels.h"

#include <algorithm>

#include "core/optim/optimizer.h"
#include "gpu/synthetic.h"

namespace vsim::gpu::device {

using core::Index;
using core::Kernel;
using core::KernelRole;
using core::Segment;
using core::TensorRange;
using core::Unit;
using core::UnitTensor;

DataKernels::DataKernels(const RankContext& context, const DataPlan& plan, std::uint64_t seed)
    : context_(context), plan_(plan), program_(plan.program()), seed_(seed), tables_(context) {}

std::byte* DataKernels::element(const BufferMemory& buffer, std::int64_t index) const {
  return buffer.memory + index * core::bytesOf(typeOf(buffer.buffer));
}

void DataKernels::launch(const DataLaunch& launch, Stream stream) {
  const Kernel& kernel = *launch.kernel;
  switch (kernel.role) {
    case KernelRole::compute:
      return;
    case KernelRole::copyIn:
      return cast(launch.reads.front(), 0, launch.writes.front(), sliceOf(kernel.writes.front(), kernel.unit),
                  program_.units[kernel.unit].shardElements, false, stream);
    case KernelRole::copyOut:
      return copyOut(launch, stream);
    case KernelRole::gradient:
      return gradient(launch, stream);
    case KernelRole::reduceCopyIn:
      return reduceCopyIn(launch, stream);
    case KernelRole::accumulate:
      return add(launch, !launch.fresh, stream);
    case KernelRole::castOut:
      return add(launch, false, stream);
    case KernelRole::optimizer:
      return optimizer(launch, stream);
    case KernelRole::zero:
      for (const BufferMemory& buffer : launch.writes) zero(buffer, stream);
      return;
  }
}

std::vector<CopySegment> DataKernels::segmentsOf(const Unit& unit, const std::vector<Route>& routes) const {
  const std::vector<UnitTensor>& tensors = program_.tensorTables[unit.tensorTable];
  std::vector<CopySegment> segments;
  // From the first buffers of the launch, in elements: all buffers are aligned to whole elements.
  const auto distance = [this](const BufferMemory& buffer, const BufferMemory& first) {
    const auto bytes = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(buffer.memory) -
                                                 reinterpret_cast<std::uintptr_t>(first.memory));
    VSIM_CHECK(bytes % core::bytesOf(typeOf(buffer.buffer)) == 0, "buffers are aligned to their elements");
    return bytes / core::bytesOf(typeOf(buffer.buffer));
  };
  for (const Route& route : routes) {
    const std::int64_t to = distance(route.to, routes.front().to);
    std::int64_t from = distance(route.from, routes.front().from);
    for (Index t = route.tensors.first; t < route.tensors.first + route.tensors.count; ++t) {
      for (const Segment& s : route.move == Move::copyOut ? copyOutSegments(unit, tensors[t])
                                                          : gatheredSegments(unit, tensors[t]))
        if (s.count > 0) segments.push_back({from + s.from, to + s.to, s.count});
      from += tensors[t].elements;
    }
  }
  return segments;
}

/// One launch for all buffers of one type; a kernel's buffers have one type unless its group mixes types.
void DataKernels::copy(const Kernel& kernel, std::vector<Route> routes, Stream stream) {
  const auto typesOf = [this](const Route& route) {
    return std::pair(typeOf(route.from.buffer), typeOf(route.to.buffer));
  };
  while (!routes.empty()) {
    const auto types = typesOf(routes.front());
    const auto others = std::stable_partition(routes.begin(), routes.end(),
                                              [&](const Route& route) { return typesOf(route) == types; });
    const std::vector<Route> together(routes.begin(), others);
    routes.erase(routes.begin(), others);
    SegmentTables::Key key{reinterpret_cast<std::uintptr_t>(&kernel), routes.size()};
    for (const Route& route : together)
      for (const BufferMemory& buffer : {route.from, route.to})
        key.push_back(reinterpret_cast<std::uintptr_t>(buffer.memory));
    const SegmentTables::Table* table = tables_.find(key, stream);
    if (table == nullptr)
      table = &tables_.add(key, segmentsOf(program_.units[kernel.unit], together), stream);
    if (table->elements == 0) continue;
    const CopyCall call{.source = together.front().from.memory,
                        .target = together.front().to.memory,
                        .sourceType = types.first,
                        .targetType = types.second,
                        .segments = table->segments,
                        .segmentCount = table->count,
                        .longest = table->longest,
                        .elements = table->elements};
    context_.check(context_.api.copySegments(call, stream));
  }
}

void DataKernels::cast(const BufferMemory& from, std::int64_t fromElement, const BufferMemory& to,
                       std::int64_t toElement, std::int64_t count, bool add, Stream stream) {
  if (count == 0) return;
  context_.check(context_.api.cast(element(from, fromElement), typeOf(from.buffer), element(to, toElement),
                                   typeOf(to.buffer), count, add, stream));
}

void DataKernels::zero(const BufferMemory& target, Stream stream) {
  const core::Buffer& buffer = program_.buffers[target.buffer];
  const auto bytes = static_cast<std::size_t>(buffer.elements * core::bytesOf(buffer.dtype));
  if (bytes > 0) context_.check(context_.api.fillBytes(target.memory, 0, bytes, stream));
}

void DataKernels::copyOut(const DataLaunch& launch, Stream stream) {
  VSIM_CHECK(launch.writes.size() == plan_.tensors(launch.kernel->unit).size(),
             "copy-out has one output per tensor");
  std::vector<Route> routes;
  for (Index t = 0; t < launch.writes.size(); ++t)
    routes.push_back({launch.reads.front(), launch.writes[t], {t, 1}, Move::copyOut});
  copy(*launch.kernel, std::move(routes), stream);
}

void DataKernels::gradient(const DataLaunch& launch, Stream stream) {
  const Kernel& kernel = *launch.kernel;
  const Unit& unit = program_.units[kernel.unit];
  const std::vector<UnitTensor>& table = plan_.tensors(kernel.unit);
  const BufferMemory& target = launch.writes.front();
  const bool packed = plan_.packed(target.buffer).has_value();
  if (!packed && launch.fresh) zero(target, stream);  // padding
  std::int64_t at = 0;
  for (Index t = kernel.firstTensor; t < kernel.firstTensor + kernel.tensorCount; ++t) {
    const UnitTensor& tensor = table[t];
    const GradientValues values(
        {seed_, unit.name + "." + tensor.name, plan_.coordinateOf(kernel.unit, context_.rank)}, context_.rank,
        launch.step, launch.microBatch);
    if (tensor.elements > 0)
      context_.check(context_.api.fillSynthetic(element(target, packed ? at : tensor.offset),
                                                typeOf(target.buffer), values.base(), 0, tensor.elements,
                                                stream));
    at += tensor.elements;
  }
}

void DataKernels::reduceCopyIn(const DataLaunch& launch, Stream stream) {
  const BufferMemory& target = launch.writes.front();
  zero(target, stream);
  std::vector<Route> routes;
  for (const BufferMemory& read : launch.reads) {
    const auto range = plan_.packed(read.buffer);
    VSIM_CHECK(range.has_value(), "the reduction's input is made of unsharded gradients");
    routes.push_back({read, target, *range, Move::gather});
  }
  copy(*launch.kernel, std::move(routes), stream);
}

/// writes = reads, or writes += reads: whole tensors where both are unsharded, else the rank's shard.
void DataKernels::add(const DataLaunch& launch, bool toOld, Stream stream) {
  const Index unit = launch.kernel->unit;
  const BufferMemory& target = launch.writes.front();
  const bool packed = plan_.packed(target.buffer).has_value();
  for (const BufferMemory& read : launch.reads) {
    std::int64_t from = sliceOf(read.buffer, unit), to = sliceOf(target.buffer, unit),
                 count = program_.units[unit].shardElements;
    if (packed) {
      const auto range = plan_.packed(read.buffer);
      VSIM_CHECK(range.has_value(), "unsharded gradients are added to unsharded gradients");
      from = 0;
      to = elementsOf(plan_.tensors(unit), {0, range->first});
      count = elementsOf(plan_.tensors(unit), *range);
    }
    cast(read, from, target, to, count, toOld, stream);
  }
}

/// reads: gradients, parameters, states; states: all first moments, then all second ones.
void DataKernels::optimizer(const DataLaunch& launch, Stream stream) {
  VSIM_CHECK(launch.reads.size() == 3, "the optimizer reads gradients, parameters and states");
  const std::int64_t count = program_.units[launch.kernel->unit].shardElements;
  if (count == 0) return;
  const BufferMemory &gradients = launch.reads[0], &parameters = launch.reads[1], &states = launch.reads[2];
  if (launch.step == 0) zero(states, stream);
  const core::AdamwParameters adamw;
  auto* const moments = reinterpret_cast<float*>(states.memory);
  const AdamWCall call{.parameters = parameters.memory,
                       .gradients = element(gradients, sliceOf(gradients.buffer, launch.kernel->unit)),
                       .first = moments,
                       .second = moments + count,
                       .parameterType = typeOf(parameters.buffer),
                       .gradientType = typeOf(gradients.buffer),
                       .elements = count,
                       .step = launch.step + 1,
                       .learningRate = adamw.learningRate,
                       .beta1 = adamw.beta1,
                       .beta2 = adamw.beta2,
                       .epsilon = adamw.epsilon,
                       .weightDecay = adamw.weightDecay};
  context_.check(context_.api.adamW(call, stream));
}

void DataKernels::fillParameters(Index unitIndex, std::byte* shard, Stream stream) {
  const Unit& unit = program_.units[unitIndex];
  const BufferMemory target{unit.parameters, shard};
  zero(target, stream);
  for (const UnitTensor& tensor : plan_.tensors(unitIndex)) {
    const InitialValues values(
        {seed_, unit.name + "." + tensor.name, plan_.coordinateOf(unitIndex, context_.rank)});
    for (const Segment& s : shardSegments(unit, tensor, plan_.shardOf(unitIndex, context_.rank)))
      context_.check(context_.api.fillSynthetic(element(target, s.to), typeOf(target.buffer), values.base(),
                                                s.from, s.count, stream));
  }
}

void DataKernels::abandon() { tables_.abandon(); }

}  // namespace vsim::gpu::device
