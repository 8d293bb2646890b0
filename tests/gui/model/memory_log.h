#pragma once

#include <memory>
#include <random>

#include "core/program/execution_log.h"
#include "sim/memory/caching_allocator.h"

namespace vsim::test {

/// A log of one class of ranks whose buffers come and go at random through the caching allocator, several
/// events at one time now and then. The program's setup allocates the first buffer, as the log does.
inline std::shared_ptr<core::ExecutionLog> randomMemoryLog(unsigned seed, std::size_t events,
                                                           core::Index buffers,
                                                           core::Bytes capacity = sim::kUnlimited) {
  std::mt19937 random(seed);
  const auto upTo = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  auto program = std::make_shared<core::StepProgram>();
  program->streams = {"compute", "copy"};
  program->units = {{.name = "R"}, {.name = "L1"}, {.name = "L2"}};
  for (core::Index i = 0; i < buffers; ++i) {
    core::Buffer buffer;
    buffer.name = "b" + std::to_string(i);
    buffer.unit = upTo(4) == 3 ? core::kNone : upTo(3);
    buffer.stream = static_cast<core::StreamId>(upTo(2));
    buffer.category = static_cast<core::MemoryCategory>(upTo(9));
    buffer.elements = upTo(8) == 0 ? 1 + upTo(40'000'000) : 1 + upTo(300'000);
    program->buffers.push_back(buffer);
  }
  program->setup.push_back({.kind = core::InstructionKind::allocate, .operand = 0});
  auto log = std::make_shared<core::ExecutionLog>();
  log->executor = "simulator";
  log->program = program;
  log->ranks.emplace_back();
  core::RankLog& rank = log->ranks[0];
  sim::AllocatorOptions options;
  options.capacity = capacity;
  sim::CachingAllocator allocator(options);
  std::vector<std::uint64_t> address(buffers);
  core::Picoseconds now = 0;
  for (std::size_t i = 0; i < events; ++i) {
    const core::Index buffer = i == 0 ? 0 : upTo(buffers);
    const bool allocate = address[buffer] == 0;
    if (i > events / 10 && upTo(3) != 0) now += upTo(1000);
    std::uint64_t at = address[buffer];
    if (allocate) {
      auto block = allocator.allocate(program->buffers[buffer].bytes(), program->buffers[buffer].stream);
      if (!block) {
        rank.peak.outOfMemory = true;
        allocator.liftLimit();
        block = allocator.allocate(program->buffers[buffer].bytes(), program->buffers[buffer].stream);
      }
      at = address[buffer] = block->address;
    } else {
      allocator.release(at);
      address[buffer] = 0;
    }
    const auto totals = allocator.totals();
    rank.memory.push_back({now, buffer, 0, allocate, at, totals.allocated, totals.active, totals.reserved});
    rank.peak.allocated = std::max(rank.peak.allocated, totals.allocated);
  }
  rank.stepBegin = {0};
  rank.stepEnd = {now + 1000};
  return log;
}

/// The same log without its first `count` events, as one that was kept for the last step alone.
inline std::shared_ptr<core::ExecutionLog> withoutBeginning(const core::ExecutionLog& log,
                                                            std::size_t count) {
  auto cut = std::make_shared<core::ExecutionLog>(log);
  auto& memory = cut->ranks[0].memory;
  memory.erase(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(count));
  for (core::MemoryEvent& event : memory) event.step = 1;
  return cut;
}

}  // namespace vsim::test
