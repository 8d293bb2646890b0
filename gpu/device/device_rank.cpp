#include "gpu/device/device_rank.h"

#include <algorithm>
#include <utility>

#include "gpu/device/device_rank_parts.h"

namespace vsim::gpu::device {

using core::Collective;
using core::CollectiveKind;
using core::Index;
using core::Instruction;
using core::InstructionKind;
using core::kNone;
using core::StreamId;

void DeviceRank::issue(const Instruction& instruction, Index index) {
  const StreamId stream = instruction.stream;
  Parts& p = *parts_;
  Api& api = set_.api;
  switch (instruction.kind) {
    case InstructionKind::allocate:
      p.memory->allocate(instruction.operand, set_.control.now(), step_);
      fresh_[instruction.operand] = true;
      return;
    case InstructionKind::release:
      return p.memory->release(instruction.operand, set_.control.now(), step_);
    case InstructionKind::kernel:
      return launch(instruction, index);
    case InstructionKind::collective:
      return communicate(instruction, index);
    case InstructionKind::recordEvent: {
      Event& event = p.events[instruction.operand];
      if (event == nullptr) context_.check(api.createEvent(event, false));
      return context_.check(api.record(event, p.streams[stream]));
    }
    case InstructionKind::waitEvent:
      if (const Event event = p.events[instruction.operand]; event != nullptr)
        context_.check(api.wait(p.streams[stream], event));
      return;
    case InstructionKind::waitStream: {
      const auto other = static_cast<StreamId>(instruction.operand);
      if (other == stream) return;
      context_.check(api.record(p.marks[other], p.streams[other]));
      return context_.check(api.wait(p.streams[stream], p.marks[other]));
    }
    case InstructionKind::hostWait:
      if (const Event event = p.events[instruction.operand]; event != nullptr) waitFor(event);
      return;
    case InstructionKind::recordStream:
      return p.memory->recordStream(instruction.operand, stream);
    case InstructionKind::hook:
      return observe(instruction, index);
  }
}

std::vector<BufferMemory> DeviceRank::resolve(const std::vector<Index>& buffers) const {
  std::vector<BufferMemory> result;
  result.reserve(buffers.size());
  for (const Index buffer : buffers) result.push_back({buffer, parts_->memory->at(buffer)});
  return result;
}

core::Slice DeviceRank::slice(const Instruction& instruction, Index index) const {
  return {.instruction = index,
          .stream = instruction.stream,
          .step = static_cast<std::uint8_t>(step_),
          .provenance = core::Provenance::measured,
          .issued = set_.control.now()};
}

void DeviceRank::launch(const Instruction& instruction, Index index) {
  const core::Kernel& kernel = program_.kernels[instruction.operand];
  const bool logged = kernel.operation != kNone;
  if (!logged && !set_.options.unloggedKernels) return;
  const Stream stream = parts_->streams[instruction.stream];
  if (logged) parts_->timer->begin(slice(instruction, index), stream);
  if (kernel.role == core::KernelRole::compute) {
    if (logged) parts_->operations->launch(program_.operations[kernel.operation], instruction.stream);
  } else {
    DataLaunch launch{.kernel = &kernel,
                      .step = step_,
                      .fresh = fresh_[kernel.writes.front()],
                      .reads = resolve(kernel.reads),
                      .writes = resolve(kernel.writes)};
    for (const Index buffer : kernel.writes) fresh_[buffer] = false;
    if (kernel.role == core::KernelRole::gradient)
      launch.microBatch = gradients_[{kernel.unit, kernel.firstTensor}]++;
    parts_->data->launch(launch, stream);
  }
  if (logged) parts_->timer->end(stream);
  observe(instruction, index);
}

/// A communicator runs one collective at a time, whatever streams they are on. Libraries see to that, except
/// where a rank is alone: what is left of a collective then is a copy, in no order with those on other
/// streams.
void DeviceRank::awaitTurn(Index group, StreamId stream) {
  const Index last = std::exchange(lastStreams_[group], stream);
  if (communicators_[group]->members().size() > 1 || last == kNone || last == stream) return;
  context_.check(set_.api.record(parts_->marks[last], parts_->streams[last]));
  context_.check(set_.api.wait(parts_->streams[stream], parts_->marks[last]));
}

void DeviceRank::communicate(const Instruction& instruction, Index index) {
  const Collective& c = program_.collectives[instruction.operand];
  RankCommunicator& communicator = *communicators_[c.group];
  const Stream stream = parts_->streams[instruction.stream];
  awaitTurn(c.group, instruction.stream);
  parts_->timer->begin(slice(instruction, index), stream);
  call(c, communicator, instruction.stream);
  parts_->timer->end(stream);
  observe(instruction, index);
}

void DeviceRank::call(const Collective& c, RankCommunicator& communicator, StreamId streamId) {
  const bool timed = c.input == kNone;
  const Stream stream = parts_->streams[streamId];
  std::byte *send = nullptr, *receive = nullptr;
  if (timed) {
    send = parts_->operations->operands(streamId);
    receive = parts_->operations->results(streamId);
  } else {
    const auto place = static_cast<std::int64_t>(communicator.index());
    const bool same = c.input == c.output;
    std::int64_t from = 0, to = 0;
    if (c.kind == CollectiveKind::allGather && same) from = place * c.sendElements;
    if (c.kind == CollectiveKind::reduceScatter && same) to = place * c.receiveElements;
    if (c.kind == CollectiveKind::allReduce) {  // of the shard, wherever it lies
      from = set_.plan.ownSlice(c.input, c.unit, context_.rank);
      to = set_.plan.ownSlice(c.output, c.unit, context_.rank);
    }
    VSIM_CHECK(from + c.sendElements <= program_.buffers[c.input].elements &&
                   to + c.receiveElements <= program_.buffers[c.output].elements,
               "a collective leaves its buffer");
    send = parts_->memory->at(c.input) + from * core::bytesOf(c.dtype);
    receive = parts_->memory->at(c.output) + to * core::bytesOf(c.dtype);
    fresh_[c.output] = false;
  }
  Api& api = set_.api;
  const auto sends = static_cast<std::size_t>(c.sendElements),
             receives = static_cast<std::size_t>(c.receiveElements);
  if (c.kind == CollectiveKind::allToAll) return allToAll(c, communicator, send, receive, streamId);
  const std::lock_guard lock(communicator.calls);
  if (communicator.dead()) context_.checkStopped();
  const Comm comm = communicator.comm();
  switch (c.kind) {
    case CollectiveKind::allGather:
      return context_.check(api.allGather(send, receive, sends, c.dtype, comm, stream));
    case CollectiveKind::reduceScatter:
      return context_.check(api.reduceScatter(send, receive, receives, c.dtype, c.reduce, comm, stream));
    case CollectiveKind::allReduce:
      return context_.check(api.allReduce(send, receive, receives, c.dtype, c.reduce, comm, stream));
    case CollectiveKind::broadcast:
      return context_.check(api.broadcast(send, receive, receives, c.dtype, 0, comm, stream));
    case CollectiveKind::allToAll:
      return;
  }
}

// The library has none of its own: sends and receives that are one launch.
void DeviceRank::allToAll(const Collective& c, RankCommunicator& communicator, const std::byte* send,
                          std::byte* receive, StreamId streamId) {
  Api& api = set_.api;
  const Stream stream = parts_->streams[streamId];
  const auto peers = static_cast<std::int64_t>(communicator.members().size());
  const std::int64_t sends = c.sendElements / peers, receives = c.receiveElements / peers;
  const bool inPlace = c.input != kNone && c.input == c.output;
  std::byte* const target = inPlace ? parts_->operations->results(streamId) : receive;
  {
    const std::lock_guard lock(communicator.calls);
    if (communicator.dead()) context_.checkStopped();
    context_.check(api.groupStart());
    Status first;
    for (std::int64_t peer = 0; peer < peers && first.ok(); ++peer) {
      const std::int64_t width = core::bytesOf(c.dtype);
      first = api.send(send + peer * sends * width, static_cast<std::size_t>(sends), c.dtype,
                       static_cast<int>(peer), communicator.comm(), stream);
      if (first.ok())
        first = api.receive(target + peer * receives * width, static_cast<std::size_t>(receives), c.dtype,
                            static_cast<int>(peer), communicator.comm(), stream);
    }
    const Status ended = api.groupEnd();
    context_.check(first);
    context_.check(ended);
  }
  if (inPlace) context_.check(api.cast(target, c.dtype, receive, c.dtype, c.receiveElements, false, stream));
}

/// Copies to the host in the order of the stream; looked at after the last step.
void DeviceRank::observe(const Instruction& instruction, Index index) {
  if (!set_.options.observed) return;
  Observed observed{step_, index};
  for (const Index buffer : set_.options.observed(index)) {
    if (!parts_->memory->live(buffer)) continue;
    const core::Buffer& b = program_.buffers[buffer];
    observed.buffers.push_back(
        {buffer, std::vector<std::byte>(static_cast<std::size_t>(b.elements * core::bytesOf(b.dtype)))});
  }
  if (observed.buffers.empty()) return;
  observed_.push_back(std::move(observed));
  for (Copied& copied : observed_.back().buffers)
    context_.check(set_.api.copyToHost(copied.bytes.data(), parts_->memory->at(copied.buffer),
                                       copied.bytes.size(), parts_->streams[instruction.stream]));
}

}  // namespace vsim::gpu::device
