// Every kind of program on the stand-in device, one device per rank: the same instructions, dependencies and
// memory as on the simulator, and the data that a training without any distribution computes.

#include <catch2/catch.hpp>

#include "core/program/dag.h"
#include "tests/gpu/device/device_run.h"
#include "tests/gpu/support/conformance_cases.h"
#include "tests/gpu/support/log_checks.h"

using namespace vsim;
using namespace vsim::core;
using namespace vsim::test;

namespace {

void checkCase(const System& system, const ConformanceCase& what, int steps, int maxDelay) {
  INFO(system.name() << ", " << what.name << ", " << steps << " steps");
  const auto program = programOf(system, what);
  StandInOptions devices;
  devices.devices = what.ranks();
  devices.maxDelay = maxDelay;
  DeviceRun run(program, what, devices);
  const auto log = run.execute(steps);
  REQUIRE((log ? std::string() : log.error().text()) == "");
  CHECK(run.dataProblem() == "");
  CHECK(run.checkedElements() > 0);
  CHECK(run.finalProblem() == "");

  const auto dag = ProgramDag::build(*program, steps);
  REQUIRE(dag);
  const ExecutionLog virtualLog = simulatedWithAllocator(program, steps);
  REQUIRE(log->ranks.size() == static_cast<std::size_t>(what.ranks()));
  for (const RankLog& rank : log->ranks) {
    INFO(rank.name);
    CHECK(difference(virtualLog.ranks.front(), rank) == "");
    CHECK(brokenDependency(*program, *dag, rank) == "");
    CHECK(rank.stepEnd.size() == static_cast<std::size_t>(steps));
  }
  run.close();
  CHECK(run.violations() == "");
  CHECK(run.leaks() == "");
}

}  // namespace

TEST_CASE("devices run every kind of program as the simulator does, and the data is right") {
  const auto cases = conformanceCases();
  std::size_t number = 0;
  for (const auto& system :
       systems())  // two steps differ from each other; a third as the second, here and there
    for (const ConformanceCase& what : cases) checkCase(*system, what, ++number % 5 == 0 ? 3 : 2, 0);
}

TEST_CASE("random delays of the device's streams change nothing") {
  const auto cases = conformanceCases();
  for (const auto& system : systems())
    for (const std::size_t i : {std::size_t{2}, cases.size() - 3, cases.size() - 1})
      checkCase(*system, cases[i], 2, 100);
}

TEST_CASE(
    "copies between many buffers: one launch a kernel, and no tables are made in steps that are alike") {
  const auto cases = conformanceCases();
  const ConformanceCase& what = cases.front();
  const auto program = programOf(*findSystem("fsdp2"), what);
  int kernels = 0;
  for (const Instruction& i : program->step) {
    if (i.kind != InstructionKind::kernel || i.firstStepOnly) continue;
    const KernelRole role = program->kernels[i.operand].role;
    kernels += role == KernelRole::copyOut || role == KernelRole::reduceCopyIn ? 1 : 0;
  }
  REQUIRE(kernels > 4);
  const auto callsOf = [&](int steps) {
    StandInOptions devices;
    devices.devices = what.ranks();
    DeviceRun run(program, what, devices);
    const auto log = run.execute(steps);
    REQUIRE(log);
    return std::pair(run.devices().calls("copySegments"), run.devices().calls("copyToDevice"));
  };
  const auto three = callsOf(3), six = callsOf(6);
  CHECK(three.first == 3 * kernels * what.ranks());
  CHECK(six.first == 6 * kernels * what.ranks());
  CHECK(six.second == three.second);
}
