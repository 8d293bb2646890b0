// Timelines worked out by hand.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "sim/memory/caching_allocator.h"
#include "tests/sim/engine/program_sketch.h"

using namespace vsim;
using core::InstructionKind;
using test::ProgramSketch;
using test::times;

TEST_CASE("launch-bound: short kernels wait for the host") {
  ProgramSketch sketch(1);
  sketch.costs.launch = 10;
  for (int i = 0; i < 3; ++i) sketch.kernel(0, 4);
  const auto log = sketch.run();
  CHECK(times(log) == "10-14 20-24 30-34");
  CHECK(log.slices[1].issued == 20);
  CHECK(log.stepBegin[0] == 0);
  CHECK(log.stepEnd[0] == 34);
}

TEST_CASE("device-bound: kernels follow each other") {
  ProgramSketch sketch(1);
  sketch.costs.launch = 10;
  for (int i = 0; i < 3; ++i) sketch.kernel(0, 25);
  CHECK(times(sketch.run()) == "10-35 35-60 60-85");
}

TEST_CASE("several launches in one operation") {
  ProgramSketch sketch(1);
  sketch.costs.launch = 10;
  sketch.kernel(0, 12, 0, 4);   // 4 launches of 3: the last is issued at 40
  sketch.kernel(0, 5);          // issued at 50
  sketch.kernel(0, 200, 0, 2);  // issued from 60: the device is the slower one
  CHECK(times(sketch.run()) == "10-43 50-55 60-260");
}

TEST_CASE("streams overlap, events order them") {
  ProgramSketch sketch(2);
  sketch.costs.launch = 1;
  sketch.kernel(0, 100);  // 1-101
  const auto event = sketch.builder().record(0);
  sketch.kernel(0, 50);  // 101-151
  sketch.kernel(1, 20);  // 3-23
  sketch.builder().wait(1, event);
  sketch.kernel(1, 20);  // after the event: 101-121
  CHECK(times(sketch.run()) == "1-101 101-151 3-23 101-121");
}

TEST_CASE("an event recorded after a wait carries it on") {
  ProgramSketch sketch(3);
  sketch.kernel(0, 100);
  sketch.builder().wait(1, sketch.builder().record(0));
  sketch.builder().wait(2, sketch.builder().record(1));  // stream 1 has no work of its own
  sketch.kernel(2, 5);
  CHECK(times(sketch.run()) == "0-100 100-105");
}

TEST_CASE("a wait refers to the latest record before it; before any record it is nothing") {
  ProgramSketch sketch(2);
  const auto event = sketch.builder().record(1);  // reserves the handle: nothing issued yet
  sketch.builder().wait(0, event);
  sketch.kernel(0, 5);    // 0-5
  sketch.kernel(1, 100);  // 0-100
  sketch.add(InstructionKind::recordEvent, 1, event);
  sketch.builder().wait(0, event);
  sketch.kernel(0, 5);              // 100-105
  sketch.kernel(1, 50);             // 100-150
  sketch.builder().wait(0, event);  // still the record before the last kernel
  sketch.kernel(0, 5);              // 105-110
  CHECK(times(sketch.run()) == "0-5 0-100 100-105 100-150 105-110");
}

TEST_CASE("in the second step a wait may refer to the first step's record") {
  ProgramSketch sketch(2);
  sketch.costs.launch = 1;
  const auto event = core::Index{0};
  sketch.builder().program().events = 1;
  sketch.builder().wait(0, event);
  sketch.kernel(0, 10);
  sketch.kernel(1, 100);
  sketch.add(InstructionKind::recordEvent, 1, event);
  // step 2: host at 2; compute waits for side stream's kernel of step 1
  CHECK(times(sketch.run(2)) == "1-11 2-102 102-112 102-202");
}

TEST_CASE("waitStream takes all work issued so far") {
  ProgramSketch sketch(2);
  sketch.kernel(0, 30);
  sketch.kernel(0, 30);
  sketch.builder().waitStream(1, 0);
  sketch.kernel(0, 30);
  sketch.kernel(1, 5);
  CHECK(times(sketch.run()) == "0-30 30-60 60-90 60-65");
}

TEST_CASE("a communicator runs its collectives one at a time in issue order") {
  ProgramSketch sketch(4, 2);
  sketch.kernel(0, 50);
  sketch.builder().waitStream(1, 0);
  sketch.collective(1, 100, 0);  // 50-150: waits for the kernel
  sketch.collective(2, 40, 0);   // free stream, but its turn comes after: 150-190
  sketch.kernel(2, 10);          // behind the collective in its stream: 190-200
  sketch.collective(3, 40, 1);   // another communicator: 0-40
  CHECK(times(sketch.run()) == "0-50 50-150 150-190 190-200 0-40");
}

TEST_CASE("hostWait blocks the host, not the streams") {
  ProgramSketch sketch(2);
  sketch.costs.launch = 1;
  sketch.costs.hostCall = 2;
  sketch.kernel(0, 100);                          // host 1, runs 1-101
  const auto event = sketch.builder().record(0);  // host 3
  sketch.kernel(1, 500);                          // host 4, runs 4-504
  sketch.builder().hostWait(event);               // host 101
  sketch.kernel(0, 10);                           // host 102, runs 102-112
  sketch.builder().hostWait(event);               // long done: host 104
  sketch.kernel(0, 10);                           // host 105: 112-122
  CHECK(times(sketch.run()) == "1-101 4-504 102-112 112-122");
}

TEST_CASE("host costs: event calls, allocations, driver calls") {
  ProgramSketch sketch(2);
  sketch.costs.hostCall = 10;
  sketch.costs.driverAllocate = 1000;
  const auto a = sketch.buffer("a", 1 << 20);
  sketch.builder().allocate(a);                   // 10 + one driver call: 1010
  sketch.kernel(0, 1);                            // 1010-1011
  sketch.builder().release(a);                    // free
  const auto event = sketch.builder().record(0);  // 1020
  sketch.builder().wait(1, event);                // 1030
  sketch.builder().waitStream(1, 0);              // 1050
  sketch.builder().hook("here");
  sketch.kernel(1, 1);
  auto options = ProgramSketch::everything();
  options.makeMemory = [] { return std::make_unique<sim::CachingAllocator>(); };
  CHECK(times(sketch.run(1, options)) == "1010-1011 1050-1051");
}

TEST_CASE("the next step's host does not wait for the device") {
  ProgramSketch sketch(1);
  sketch.costs.launch = 10;
  sketch.kernel(0, 100);
  sketch.kernel(0, 100);
  const auto log = sketch.run(3);
  CHECK(times(log) == "10-110 110-210 210-310 310-410 410-510 510-610");
  CHECK(log.stepBegin == std::vector<core::Picoseconds>{0, 20, 40});
  CHECK(log.stepEnd == std::vector<core::Picoseconds>{210, 410, 610});
}

TEST_CASE("first-step-only instructions are skipped later") {
  ProgramSketch sketch(1);
  sketch.kernel(0, 100);
  sketch.builder().setFirstStepOnly(true);
  sketch.kernel(0, 7);
  const auto log = sketch.run(2);
  CHECK(times(log) == "0-100 100-107 107-207");
  CHECK(log.slices[2].step == 1);
  CHECK(log.slices[2].instruction == 0);
}

TEST_CASE("interference: kernels slow down while a collective runs elsewhere") {
  ProgramSketch sketch(2);
  sketch.kernel(0, 50);
  sketch.builder().waitStream(1, 0);
  sketch.kernel(0, 1000);
  sketch.collective(1, 300, 0, 0.5);
  // From 50 to 350 the kernel does 300 / 1.5 = 200; the other 800 take until 1150.
  CHECK(times(sketch.run()) == "0-50 50-1150 50-350");
}

TEST_CASE("interference adds up piece by piece") {
  ProgramSketch sketch(4, 2);
  sketch.kernel(0, 600);
  sketch.collective(1, 300, 0, 0.5);
  sketch.kernel(2, 100);              // slowed as well: 0-150
  sketch.collective(2, 400, 1, 1.5);  // 150-550
  // Compute: 0-150 at 1/1.5: 100; 150-300 at 1/3: 50; 300-550 at 1/2.5: 100; 350 left: until 900.
  // A collective is never slowed.
  CHECK(times(sketch.run()) == "0-900 0-300 0-150 150-550");
}

TEST_CASE("side-stream kernels take from the compute stream, and not the other way round") {
  ProgramSketch sketch(2);
  sketch.kernel(0, 1000, 0.7);
  sketch.kernel(1, 100, 0.25);
  CHECK(times(sketch.run()) == "0-1020 0-100");
}

TEST_CASE("a collective stretches while kernels run elsewhere, piece by piece") {
  ProgramSketch sketch(3);
  sketch.kernel(0, 100);
  sketch.collective(1, 300, 0, 0, 0.5);
  sketch.builder().waitStream(0, 2);
  sketch.kernel(2, 60);
  // 0-100 beside a kernel (two, up to 60): 66.7 done; the rest undisturbed: until 333.3.
  CHECK(times(sketch.run()) == "0-100 0-333 0-60");
}

TEST_CASE("a stretched collective waits for no gap between two kernels of a stream") {
  ProgramSketch sketch(2);
  for (int i = 0; i < 4; ++i) sketch.kernel(0, 100);
  sketch.collective(1, 200, 0, 0, 1);
  CHECK(times(sketch.run()) == "0-100 100-200 200-300 300-400 0-400");
}

TEST_CASE("slowdown and stretch at once") {
  ProgramSketch sketch(2);
  sketch.kernel(0, 100);
  sketch.collective(1, 100, 0, 0.5, 1);
  // The kernel at 1/1.5 ends at 150; the collective has done 75 by then, 25 are left.
  CHECK(times(sketch.run()) == "0-150 0-175");
}

TEST_CASE("only kernels stretch, and a kernel is not stretched") {
  ProgramSketch sketch(3, 2);
  sketch.collective(1, 100, 0, 0, 3);
  sketch.collective(2, 100, 1, 0, 3);
  sketch.costs.operations.clear();
  CHECK(times(sketch.run()) == "0-100 0-100");
  ProgramSketch kernels(2);
  kernels.kernel(0, 100);
  kernels.kernel(1, 100);
  for (auto& cost : kernels.costs.operations) cost.stretch = 5;
  CHECK(times(kernels.run()) == "0-100 0-100");
}

TEST_CASE("a stretch that is no number is refused") {
  for (const double stretch : {-0.1, std::nan(""), std::numeric_limits<double>::infinity()}) {
    ProgramSketch sketch(2);
    sketch.collective(1, 100, 0, 0, stretch);
    sim::Simulator simulator(sketch.costs, {});
    CHECK_FALSE(simulator.execute(sketch.program(), 1));
  }
}

TEST_CASE("an interfered kernel ends on a whole picosecond") {
  ProgramSketch sketch(2);
  sketch.kernel(0, 100);
  sketch.collective(1, 10, 0, 1.0 / 3);
  // 10 ps at 3/4 do 7.5; 92.5 left end at 102.5, rounded.
  CHECK(times(sketch.run()) == "0-103 0-10");
}

TEST_CASE("a simulation ends when it is cancelled, between steps and inside a long one") {
  ProgramSketch sketch(1);
  for (int i = 0; i < 20'000; ++i) sketch.kernel(0, 4);
  for (const int after : {0, 1, 2}) {
    int asked = 0;
    sim::SimulatorOptions options;
    options.cancelled = [&] { return asked++ >= after; };
    sim::Simulator simulator(sketch.costs, options);
    const auto log = simulator.execute(std::make_shared<core::StepProgram>(sketch.builder().program()), 2);
    REQUIRE_FALSE(log.has_value());
    CHECK(log.error().message == "cancelled");
    CHECK(asked == after + 1);
  }
}
