#include <catch2/catch.hpp>

#include "sim/memory/caching_allocator.h"
#include "tests/sim/engine/program_sketch.h"

using namespace vsim;
using core::Bytes;
using core::MemoryCategory;
using sim::kMebi;
using test::ProgramSketch;
using test::times;

namespace {

sim::SimulatorOptions withAllocator(Bytes capacity = sim::kUnlimited) {
  auto options = ProgramSketch::everything();
  options.makeMemory = [capacity] {
    sim::AllocatorOptions allocator;
    allocator.capacity = capacity;
    return std::make_unique<sim::CachingAllocator>(allocator);
  };
  return options;
}

}  // namespace

TEST_CASE("peaks by category at the instant of the allocated peak") {
  ProgramSketch sketch(1);
  auto& builder = sketch.builder();
  builder.beginSetup();
  builder.allocate(sketch.buffer("weights", 30 * kMebi, 0, MemoryCategory::parameters));
  builder.beginStep();
  const auto a = sketch.buffer("a", 40 * kMebi), b = sketch.buffer("b", 20 * kMebi);
  const auto t = sketch.buffer("t", 30 * kMebi, 0, MemoryCategory::temporary);
  builder.allocate(a);
  builder.allocate(b);
  builder.release(a);
  builder.allocate(t);  // 80: below the peak of 90
  builder.release(t);
  builder.release(b);
  const auto log = sketch.run(2, withAllocator());
  CHECK(log.peak.allocated == 90 * kMebi);
  CHECK(log.peak.reserved == 90 * kMebi);
  CHECK(log.peak.byCategory[static_cast<int>(MemoryCategory::parameters)] == 30 * kMebi);
  CHECK(log.peak.byCategory[static_cast<int>(MemoryCategory::activations)] == 60 * kMebi);
  CHECK(log.peak.byCategory[static_cast<int>(MemoryCategory::temporary)] == 0);
  CHECK(log.lastStepPeak.allocated == 90 * kMebi);
  CHECK_FALSE(log.peak.outOfMemory);
  REQUIRE(log.memory.size() == 13);
  CHECK(log.memory.front().time == 0);
  CHECK(log.memory.back().allocated == 30 * kMebi);
  CHECK_FALSE(log.memory.back().allocate);
}

TEST_CASE("the last step's peak leaves first-step work out") {
  ProgramSketch sketch(1);
  auto& builder = sketch.builder();
  const auto once = sketch.buffer("once", 50 * kMebi), each = sketch.buffer("each", 10 * kMebi);
  builder.setFirstStepOnly(true);
  builder.allocate(once);
  builder.release(once);
  builder.setFirstStepOnly(false);
  builder.allocate(each);
  builder.release(each);
  const auto log = sketch.run(2, withAllocator());
  CHECK(log.peak.allocated == 50 * kMebi);
  CHECK(log.lastStepPeak.allocated == 10 * kMebi);
  CHECK(log.lastStepPeak.reserved == 50 * kMebi);
}

TEST_CASE("recordStream: reuse only when the other stream has passed the release") {
  ProgramSketch sketch(2);
  sketch.costs.launch = 1;
  auto& builder = sketch.builder();
  const auto a = sketch.buffer("a", 64 * kMebi), b = sketch.buffer("b", 64 * kMebi),
             c = sketch.buffer("c", 64 * kMebi);
  builder.allocate(a);
  sketch.kernel(1, 100);  // 1-101
  const auto event = builder.record(1);
  sketch.recordStream(a, 1);
  builder.release(a);
  builder.allocate(b);  // the host is at 1: side stream still busy, new memory
  builder.hostWait(event);
  builder.allocate(c);  // 101: a's memory again
  const auto log = sketch.run(1, withAllocator());
  REQUIRE(log.memory.size() == 4);
  CHECK(log.memory[2].address != log.memory[0].address);
  CHECK(log.memory[2].active == 128 * kMebi);
  CHECK(log.memory[2].allocated == 64 * kMebi);
  CHECK(log.memory[3].address == log.memory[0].address);
  CHECK(log.peak.reserved == 128 * kMebi);
}

TEST_CASE("without recordStream memory is reused in host order at once") {
  ProgramSketch sketch(2);
  auto& builder = sketch.builder();
  const auto a = sketch.buffer("a", 64 * kMebi), b = sketch.buffer("b", 64 * kMebi);
  builder.allocate(a);
  sketch.kernel(0, 100);
  builder.release(a);
  builder.allocate(b);
  const auto log = sketch.run(1, withAllocator());
  CHECK(log.memory[2].address == log.memory[0].address);
}

TEST_CASE("an allocation that waits for the device holds the host up") {
  ProgramSketch sketch(2);
  sketch.costs.launch = 1;
  sketch.costs.driverAllocate = 5;
  auto& builder = sketch.builder();
  const auto a = sketch.buffer("a", 60 * kMebi, 0), b = sketch.buffer("b", 60 * kMebi, 1);
  builder.allocate(a);    // host 5
  sketch.kernel(0, 100);  // 6-106
  builder.release(a);
  builder.allocate(b);  // the cached block goes back first: host 106 + 2 calls = 116
  sketch.kernel(1, 10);
  const auto log = sketch.run(1, withAllocator(100 * kMebi));
  CHECK(times(log) == "6-106 117-127");
  CHECK(log.peak.allocationRetries == 1);
  CHECK_FALSE(log.peak.outOfMemory);
}

TEST_CASE("out of memory is noted, and the simulation tells how much is missing") {
  ProgramSketch sketch(1);
  auto& builder = sketch.builder();
  const auto a = sketch.buffer("a", 60 * kMebi), b = sketch.buffer("b", 60 * kMebi),
             c = sketch.buffer("c", 60 * kMebi);
  for (const auto buffer : {a, b, c}) builder.allocate(buffer);
  for (const auto buffer : {a, b, c}) builder.release(buffer);
  const auto log = sketch.run(2, withAllocator(100 * kMebi));
  CHECK(log.peak.outOfMemory);
  CHECK(log.peak.outOfMemoryBuffer == "b");
  CHECK(log.peak.allocated == 180 * kMebi);
  CHECK(log.peak.reserved == 180 * kMebi);
}

TEST_CASE("what is kept") {
  ProgramSketch sketch(1);
  const auto a = sketch.buffer("a", kMebi);
  sketch.builder().allocate(a);
  sketch.kernel(0, 10);
  sketch.builder().release(a);
  auto options = withAllocator();
  options.slices = options.memory = sim::Keep::lastStep;
  auto log = sketch.run(3, options);
  REQUIRE(log.slices.size() == 1);
  CHECK(log.slices[0].step == 2);
  CHECK(log.memory.size() == 2);
  options.slices = options.memory = sim::Keep::nothing;
  log = sketch.run(3, options);
  CHECK(log.slices.empty());
  CHECK(log.memory.empty());
  CHECK(log.stepEnd == std::vector<core::Picoseconds>{10, 20, 30});
  CHECK(log.peak.allocated == kMebi);
}

TEST_CASE("programs that cannot run are refused") {
  const auto refused = [](const ProgramSketch& sketch, int steps = 1) {
    sim::Simulator simulator(sketch.costs);
    return !simulator.execute(sketch.program(), steps);
  };
  ProgramSketch good(1);
  good.kernel(0, 1);
  CHECK_FALSE(refused(good));
  CHECK(refused(good, 0));
  CHECK(refused(good, 256));
  ProgramSketch other = good;
  other.costs.operations.clear();
  CHECK(refused(other));
  ProgramSketch negative = good;
  negative.costs.operations[0].time = -1;
  CHECK(refused(negative));
  ProgramSketch endless = good;
  endless.costs.operations[0].time = std::numeric_limits<core::Picoseconds>::max();
  CHECK(refused(endless));
  ProgramSketch noStream = good;
  noStream.builder().program().step[0].stream = 3;
  CHECK(refused(noStream));
  ProgramSketch noEvent = good;
  noEvent.add(core::InstructionKind::waitEvent, 0, 5);
  CHECK(refused(noEvent));
  ProgramSketch twice = good;
  twice.builder().beginStep();  // a copied builder still writes to the original
  const auto a = twice.buffer("a", 1);
  twice.builder().allocate(a);
  CHECK_FALSE(refused(twice));
  CHECK(refused(twice, 2));  // never released: live at the second allocation
  ProgramSketch dead = good;
  const auto b = dead.buffer("b", 1);
  dead.builder().program().step.push_back({.kind = core::InstructionKind::release, .operand = b});
  CHECK(refused(dead));
  ProgramSketch huge = good;
  huge.buffer("huge", std::numeric_limits<Bytes>::max());
  huge.builder().program().buffers[0].dtype = core::DType::fp32;
  CHECK(refused(huge));
}
