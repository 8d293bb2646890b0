#include "gpu/device/rank_memory.h"

#include <algorithm>

namespace vsim::gpu::device {

using core::Bytes;
using core::Index;
using core::Picoseconds;
using core::StreamId;

RankMemory::RankMemory(const RankContext& context, const core::StepProgram& program,
                       const DeviceOptions& options, const std::vector<Stream>& streams,
                       std::vector<RankCommunicator*> registerWith)
    : context_(context),
      program_(program),
      streams_(streams),
      poison_(options.poison),
      segments_(context, std::move(registerWith)),
      events_(context, false),
      tickets_(streams.size()),
      memory_(options.makeMemory(segments_)),
      live_(program.buffers.size()),
      released_(streams.size()) {
  memory_->setProgress([this](StreamId stream) { return issueTicket(stream); },
                       [this](StreamId stream, std::uint64_t ticket) { return completed(stream, ticket); });
}

std::uint64_t RankMemory::issueTicket(StreamId stream) {
  Tickets& tickets = tickets_[stream];
  const Event event = events_.take();
  context_.check(context_.api.record(event, streams_[stream]));
  tickets.pending.push_back({++tickets.issued, event});
  return tickets.issued;
}

bool RankMemory::completed(StreamId stream, std::uint64_t ticket) {
  Tickets& tickets = tickets_[stream];
  while (tickets.completed < ticket) {
    bool done = false;
    context_.check(context_.api.query(tickets.pending.front().event, done));
    if (!done) break;
    tickets.completed = tickets.pending.front().number;
    events_.giveBack(tickets.pending.front().event);
    tickets.pending.pop_front();
  }
  if (tickets.completed < ticket) context_.checkStopped();  // the allocator may ask for ever
  return tickets.completed >= ticket;
}

std::string RankMemory::nameOf(Index index) const {
  const core::Buffer& buffer = program_.buffers[index];
  return buffer.name + (buffer.unit == core::kNone ? "" : "(" + program_.units[buffer.unit].name + ")");
}

std::byte* RankMemory::at(Index buffer) const {
  if (!live_[buffer].live)
    context_.fail("buffer '" + program_.buffers[buffer].name + "' is used while it is not live");
  return reinterpret_cast<std::byte*>(live_[buffer].address);
}

void RankMemory::exhausted(Index buffer) {
  const core::MemoryModel::Totals totals = memory_->totals();
  Bytes free = 0, total = 0;
  static_cast<void>(context_.api.memoryInfo(free, total));
  const std::string beside =
      beside_ > 0
          ? fmt::format(", {} hold operands and results of kernels, which no training has beside its buffers",
                        core::formatBytes(beside_))
          : std::string();
  context_.fail(fmt::format("out of memory: buffer '{}' of {} does not fit; {} are allocated, {} reserved{}, "
                            "{} of the device's {} are free",
                            nameOf(buffer), core::formatBytes(program_.buffers[buffer].bytes()),
                            core::formatBytes(totals.allocated), core::formatBytes(totals.reserved), beside,
                            core::formatBytes(free), core::formatBytes(total)),
                "`vsim memory` shows what fills the memory, `vsim tune` looks for what fits");
}

void RankMemory::allocate(Index index, Picoseconds time, int step) {
  const core::Buffer& buffer = program_.buffers[index];
  if (live_[index].live) context_.fail("buffer '" + buffer.name + "' is allocated while it is live");
  const auto block = memory_->allocate(buffer.bytes(), buffer.stream);
  if (!block) exhausted(index);
  const Bytes before = totals_.allocated;
  totals_ = memory_->totals();
  const Bytes charged = totals_.allocated - before;
  live_[index] = {block->address, charged, true, false};
  byCategory_[static_cast<std::size_t>(buffer.category)] += charged;
  updatePeak(peak_, time);
  updatePeak(stepPeak_, time);
  note(index, time, step, true);
  if (poison_) poisonReleased(buffer, *block);
}

/// From the first request behind its release on, work of the pool's stream may use a block: there it is
/// spoiled. Not what is handed out at once: its user may be another stream, in order with the release alone.
void RankMemory::poisonReleased(const core::Buffer& buffer, const core::MemoryModel::Block& taken) {
  constexpr int kPoison = 0xff;  // all ones is a NaN of every floating type
  if (taken.waitedForDevice)     // segments may have been given back
    for (std::vector<Released>& released : released_) released.clear();
  const std::uint64_t end = taken.address + static_cast<std::uint64_t>(buffer.bytes());
  for (const Released& block : released_[buffer.stream]) {
    if (block.address < end && taken.address < block.address + static_cast<std::uint64_t>(block.bytes))
      continue;
    context_.check(context_.api.fillBytes(reinterpret_cast<void*>(block.address), kPoison,
                                          static_cast<std::size_t>(block.bytes), streams_[buffer.stream]));
  }
  released_[buffer.stream].clear();
}

void RankMemory::release(Index index, Picoseconds time, int step) {
  Live& live = live_[index];
  const core::Buffer& buffer = program_.buffers[index];
  if (!live.live) context_.fail("buffer '" + buffer.name + "' is released while it is not live");
  memory_->release(live.address);
  totals_ = memory_->totals();
  byCategory_[static_cast<std::size_t>(buffer.category)] -= live.charged;
  live.live = false;
  if (poison_ && !live.recorded && buffer.bytes() > 0)
    released_[buffer.stream].push_back({live.address, buffer.bytes()});
  note(index, time, step, false);
}

void RankMemory::recordStream(Index buffer, StreamId stream) {
  static_cast<void>(at(buffer));
  memory_->recordStream(live_[buffer].address, stream);
  live_[buffer].recorded = true;
}

void RankMemory::note(Index buffer, Picoseconds time, int step, bool allocated) {
  log_.push_back({time, buffer, static_cast<std::uint8_t>(step), allocated, live_[buffer].address,
                  totals_.allocated, totals_.active, totals_.reserved});
}

void RankMemory::updatePeak(core::MemoryPeak& peak, Picoseconds time) const {
  peak.active = std::max(peak.active, totals_.active);
  peak.reserved = std::max(peak.reserved, totals_.reserved);
  if (totals_.allocated <= peak.allocated) return;
  peak.allocated = totals_.allocated;
  peak.byCategory = byCategory_;
  peak.time = time;
}

void RankMemory::beginStep(Picoseconds time) {
  stepPeak_ = {};
  retriesBeforeStep_ = memory_->totals().retries;
  updatePeak(stepPeak_, time);
}

void RankMemory::finish(core::RankLog& log) {
  const std::int64_t retries = memory_->totals().retries;
  peak_.allocationRetries = retries;
  stepPeak_.allocationRetries = retries - retriesBeforeStep_;
  log.peak = peak_;
  log.lastStepPeak = stepPeak_;
  log.memory = std::move(log_);
}

void RankMemory::abandon() {
  segments_.abandon();
  events_.abandon();
}

}  // namespace vsim::gpu::device
