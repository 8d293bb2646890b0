#include "sim/engine/buffer_ledger.h"

#include <algorithm>

namespace vsim::sim {

using core::Bytes;
using core::fail;
using core::Index;
using core::MemoryModel;
using core::Picoseconds;
using core::Result;

BufferLedger::BufferLedger(const core::StepProgram& program, const ProgramTables& tables,
                           std::unique_ptr<MemoryModel> memory)
    : program_(program),
      tables_(tables),
      memory_(std::move(memory)),
      addresses_(tables.buffers.size()),
      charged_(tables.buffers.size(), kNotLive) {}

Result<BufferLedger::Answer> BufferLedger::allocate(Index buffer, Picoseconds time) {
  if (charged_[buffer] != kNotLive)
    return fail("buffer '" + program_.buffers[buffer].name + "' is allocated while it is live");
  Answer answer;
  const Bytes bytes = tables_.buffers[buffer].bytes;
  MemoryModel::Totals now{allocated_ + bytes, allocated_ + bytes, allocated_ + bytes};
  if (memory_) {
    auto block = memory_->allocate(bytes, tables_.buffers[buffer].stream);
    if (!block) {
      auto more = request(buffer);
      if (!more) return tl::unexpected(more.error());
      block = *more;
      block->waitedForDevice = true;  // cached blocks were given back before the request was refused
    }
    addresses_[buffer] = block->address;
    answer = {block->driverCalls, block->waitedForDevice};
    now = memory_->totals();
  }
  const Bytes charged = now.allocated - allocated_;
  charged_[buffer] = charged;
  allocated_ = now.allocated;
  byCategory_[tables_.buffers[buffer].category] += charged;
  updatePeak(peak_, now, time);
  updatePeak(stepPeak_, now, time);
  return answer;
}

// The simulation goes on as if memory were larger, so that the report can say how much is missing.
Result<MemoryModel::Block> BufferLedger::request(Index buffer) {
  for (core::MemoryPeak* peak : {&peak_, &stepPeak_}) {
    if (peak->outOfMemory) continue;
    peak->outOfMemory = true;
    peak->outOfMemoryBuffer = program_.buffers[buffer].name;
  }
  if (memory_->liftLimit())
    if (const auto block = memory_->allocate(tables_.buffers[buffer].bytes, tables_.buffers[buffer].stream))
      return *block;
  return fail("out of memory at buffer '" + program_.buffers[buffer].name + "'");
}

Result<void> BufferLedger::release(Index buffer) {
  if (charged_[buffer] == kNotLive)
    return fail("buffer '" + program_.buffers[buffer].name + "' is released while it is not live");
  if (memory_) memory_->release(addresses_[buffer]);
  allocated_ -= charged_[buffer];
  byCategory_[tables_.buffers[buffer].category] -= charged_[buffer];
  charged_[buffer] = kNotLive;
  return {};
}

Result<void> BufferLedger::recordStream(Index buffer, core::StreamId stream) {
  if (charged_[buffer] == kNotLive)
    return fail("buffer '" + program_.buffers[buffer].name +
                "' is recorded on a stream while it is not live");
  if (memory_) memory_->recordStream(addresses_[buffer], stream);
  return {};
}

void BufferLedger::updatePeak(core::MemoryPeak& peak, const MemoryModel::Totals& now, Picoseconds time) {
  peak.active = std::max(peak.active, now.active);
  peak.reserved = std::max(peak.reserved, now.reserved);
  if (now.allocated <= peak.allocated) return;
  peak.allocated = now.allocated;
  peak.byCategory = byCategory_;
  peak.time = time;
}

void BufferLedger::beginStep(Picoseconds time) {
  stepPeak_ = {};
  retriesBefore_ = totals().retries;
  updatePeak(stepPeak_, totals(), time);
}

MemoryModel::Totals BufferLedger::totals() const {
  return memory_ ? memory_->totals() : MemoryModel::Totals{allocated_, allocated_, allocated_};
}

core::MemoryPeak BufferLedger::peak() const {
  core::MemoryPeak peak = peak_;
  peak.allocationRetries = totals().retries;
  return peak;
}

core::MemoryPeak BufferLedger::stepPeak() const {
  core::MemoryPeak peak = stepPeak_;
  peak.allocationRetries = totals().retries - retriesBefore_;
  return peak;
}

}  // namespace vsim::sim
