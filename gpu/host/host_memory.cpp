#include "gpu/host/host_memory.h"

#include <algorithm>
#include <bit>
#include <new>

#include "core/base/checked.h"
#include "gpu/rounding.h"

namespace vsim::gpu {

using core::Index;
using core::Picoseconds;

namespace {

constexpr std::uint32_t kPoison = 0x7fc0dead;

std::size_t floatsOf(const core::Buffer& buffer) {
  if (isFloating(buffer.dtype)) return static_cast<std::size_t>(buffer.elements);
  constexpr std::int64_t kFloat = sizeof(float);
  return static_cast<std::size_t>(core::ceilDivide(buffer.elements * core::bytesOf(buffer.dtype), kFloat));
}

}  // namespace

float poison() { return std::bit_cast<float>(kPoison); }
bool isPoison(float value) { return std::bit_cast<std::uint32_t>(value) == kPoison; }

void HostBlock::spoil() {
  if (leftover_ == Leftover::poisoned) std::fill(data_.begin(), data_.end(), poison());
  spoiled_.store(true, std::memory_order_release);
}

HostMemory::HostMemory(const core::StepProgram& program, Leftover leftover, core::Bytes limit)
    : program_(program),
      leftover_(leftover),
      limit_(limit),
      pools_(program.streams.size()),
      live_(program.buffers.size(), nullptr) {}

core::Result<HostMemory::Request> HostMemory::allocate(Index index, Picoseconds time) {
  const core::Buffer& buffer = program_.buffers[index];
  if (live_[index] != nullptr)
    return core::fail("buffer '" + buffer.name + "' is allocated while it is live");
  Request request;
  Pool& pool = pools_[buffer.stream];
  request.spoil = pool.released;
  // Taken before the newly released ones join: those are not spoiled yet.
  request.block = live_[index] = take(buffer.stream, floatsOf(buffer));
  if (request.block == nullptr)
    return core::fail(
        fmt::format("out of memory for buffer '{}' of {}: {} of {} are taken", buffer.name,
                    core::formatBytes(buffer.bytes()), core::formatBytes(taken_), core::formatBytes(limit_)),
        "each element of a floating type takes four bytes on the host");
  keep(buffer.stream);
  allocated_ += buffer.bytes();
  byCategory_[static_cast<std::size_t>(buffer.category)] += buffer.bytes();
  updatePeak(peak_, time);
  updatePeak(stepPeak_, time);
  return request;
}

void HostMemory::keep(core::StreamId stream) {
  Pool& pool = pools_[stream];
  for (HostBlock* block : pool.released) pool.free[block->data().size()].push_back(block);
  pool.released.clear();
}

bool HostMemory::fits(Index index) const {
  const core::Buffer& buffer = program_.buffers[index];
  const std::size_t floats = floatsOf(buffer);
  const auto free = pools_[buffer.stream].free.find(floats);
  if (free != pools_[buffer.stream].free.end() && !free->second.empty() && free->second.front()->spoiled())
    return true;
  return static_cast<core::Bytes>(floats * sizeof(float)) <= limit_ - taken_;
}

std::vector<HostBlock*> HostMemory::takeReleased(Index index) {
  const core::StreamId stream = program_.buffers[index].stream;
  std::vector<HostBlock*> released = pools_[stream].released;
  keep(stream);
  return released;
}

HostBlock* HostMemory::take(core::StreamId stream, std::size_t floats) {
  std::deque<HostBlock*>& free = pools_[stream].free[floats];
  HostBlock* block = nullptr;
  if (!free.empty() && free.front()->spoiled()) {
    block = free.front();
    free.pop_front();
  } else {
    const auto bytes = static_cast<core::Bytes>(floats * sizeof(float));
    if (bytes > limit_ - taken_) return nullptr;
    try {
      blocks_.push_back(std::make_unique<HostBlock>(floats, leftover_));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    block = blocks_.back().get();
    taken_ += bytes;
  }
  block->handOut();
  return block;
}

core::Result<void> HostMemory::release(Index index) {
  const core::Buffer& buffer = program_.buffers[index];
  if (live_[index] == nullptr)
    return core::fail("buffer '" + buffer.name + "' is released while it is not live");
  pools_[buffer.stream].released.push_back(live_[index]);
  live_[index] = nullptr;
  allocated_ -= buffer.bytes();
  byCategory_[static_cast<std::size_t>(buffer.category)] -= buffer.bytes();
  return {};
}

void HostMemory::updatePeak(core::MemoryPeak& peak, Picoseconds time) const {
  if (allocated_ <= peak.allocated) return;
  peak.allocated = peak.active = peak.reserved = allocated_;
  peak.byCategory = byCategory_;
  peak.time = time;
}

void HostMemory::beginStep(Picoseconds time) {
  stepPeak_ = {};
  updatePeak(stepPeak_, time);
}

}  // namespace vsim::gpu
