// The stand-in really runs behind the host and in no other order than the program asks for: what a program
// leaves out shows.

#include <catch2/catch.hpp>

#include "tests/gpu/device/device_run.h"

using namespace vsim;
using namespace vsim::core;
using namespace vsim::test;

namespace {

std::shared_ptr<StepProgram> without(const StepProgram& program, InstructionKind kind, const char* stream) {
  auto changed = std::make_shared<StepProgram>(program);
  std::erase_if(changed->step,
                [&](const Instruction& i) { return i.kind == kind && program.streams[i.stream] == stream; });
  return changed;
}

}  // namespace

TEST_CASE("broken programs: missing waits show in the data") {
  const ConformanceCase what = conformanceCases().front();
  struct Missing {
    const char* system;
    InstructionKind kind;
    const char* stream;
  };
  for (const Missing& missing : {Missing{"vescale", InstructionKind::waitEvent, "default"},
                                 Missing{"vescale", InstructionKind::waitStream, "RS"},
                                 Missing{"fsdp2", InstructionKind::waitStream, "AG"}}) {
    INFO(missing.system << " " << missing.stream);
    const auto broken = without(*programOf(*findSystem(missing.system), what), missing.kind, missing.stream);
    bool wrong = false;
    for (std::uint64_t seed = 1; seed <= 20 && !wrong; ++seed) {
      StandInOptions devices;
      devices.devices = what.ranks();
      devices.maxDelay = 1500;
      devices.seed = seed;
      DeviceRun run(broken, what, devices);
      const auto log = run.execute(2);
      REQUIRE((log ? std::string() : log.error().text()) == "");
      wrong = !run.dataProblem().empty() || !run.finalProblem().empty();
    }
    CHECK(wrong);
  }
}

TEST_CASE("broken programs: a buffer that is not live is named") {
  const ConformanceCase what = conformanceCases().front();
  const auto program = programOf(*findSystem("vescale"), what);
  auto broken = std::make_shared<StepProgram>(*program);
  // The first gather buffer is never allocated.
  const auto first = std::find_if(broken->step.begin(), broken->step.end(),
                                  [](const Instruction& i) { return i.kind == InstructionKind::allocate; });
  const std::string name = broken->buffers[first->operand].name;
  broken->step.erase(first);
  StandInOptions devices;
  devices.devices = what.ranks();
  DeviceRun run(broken, what, devices);
  const auto log = run.execute(1);
  REQUIRE(!log);
  CHECK_THAT(log.error().message, Catch::Matchers::Contains("buffer '" + name + "' is") &&
                                      Catch::Matchers::Contains("while it is not live"));
  run.close();
  CHECK(run.leaks() == "");
}
