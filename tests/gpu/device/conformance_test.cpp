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
