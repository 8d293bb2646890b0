// The host executor calibrated for a program of its own: every cost is there, and none is absurd.

#include "gpu/host/host_machine.h"

#include <catch2/catch.hpp>

#include "gpu/calibrate/calibration.h"
#include "gpu/calibrate/measure_sequence.h"
#include "tests/gpu/support/conformance_cases.h"

using namespace vsim;
using namespace vsim::gpu;

namespace {

constexpr int kRanks = 4;

ProgramPointer smallProgram() {
  test::ConformanceCase what;
  what.model.layers = 1;
  what.options.parallel.fsdp = kRanks;
  return test::programOf(*core::findSystem("fsdp2"), what);
}

std::vector<core::Index> kernelsOf(const core::StepProgram& program) {
  std::vector<core::Index> kernels;
  for (const core::Instruction& instruction : program.step)
    if (instruction.kind == core::InstructionKind::kernel && !instruction.firstStepOnly &&
        program.kernels[instruction.operand].operation != core::kNone)
      kernels.push_back(instruction.operand);
  return kernels;
}

}  // namespace

TEST_CASE("calibration: the host executor's profile has all costs of a program") {
  const auto job = singleProcessJob();
  auto machine = makeHostMachine({.ranks = kRanks}, *job, nullptr);
  REQUIRE(machine);
  const auto program = smallProgram();
  CalibrationOptions options;
  options.budgetSeconds = 30;  // ends long before on a machine of its own
  options.targetError = 10;    // few results each are enough here
  options.grids = false;
  options.programs = {program};
  const auto found = calibrate(**machine, options);
  if (!found) FAIL(found.error().text());
  CHECK(found->profile.hardware->executor == "host");
  REQUIRE(found->profile.host);
  CHECK(found->profile.host->launch < 1e-3);
  CHECK(found->profile.host->call < 1e-2);
  for (const core::Operation& op : program->operations) {
    INFO(op.name);
    const auto cost = core::matchOperation(found->profile, op);
    REQUIRE(cost);
    CHECK(cost->time > 0);
    CHECK(cost->time < core::kPicosecondsPerSecond);
  }
  for (const core::Collective& c : program->collectives) {
    const core::CommGroup& group = program->groups[c.group];
    if (group.size < 2) continue;
    const auto cost = core::matchCollective(
        found->profile, {.kind = c.kind,
                         .bytes = std::max(c.sendElements, c.receiveElements) * core::bytesOf(c.dtype),
                         .ranks = group.size,
                         .ranksPerNode = group.size,
                         .stride = group.stride,
                         .dtype = c.dtype,
                         .aligned = c.aligned16});
    REQUIRE(cost);
    CHECK(cost->time > 0);
  }
}

TEST_CASE("calibration: a profile of the host executor is complete however short the time") {
  const auto job = singleProcessJob();
  auto machine = makeHostMachine({.ranks = kRanks, .scale = 0.5}, *job, nullptr);
  REQUIRE(machine);
  CalibrationOptions options;
  options.budgetSeconds = 1e-3;
  options.scale = 0.5;
  options.programs = {smallProgram()};
  const auto found = calibrate(**machine, options);
  if (!found) FAIL(found.error().text());
  REQUIRE(found->profile.hardware);
  CHECK(found->profile.hardware->scale == 0.5);
  const core::GpuSpec& board = found->profile.hardware->cluster.gpu;
  CHECK(board.peakBf16 > 0);
  CHECK(board.peakFp32 > 0);
  CHECK(board.hbmBytesPerSecond > 0);
  const auto again = core::parseProfile(core::profileText(found->profile), "profile.yaml");
  REQUIRE(again);
  CHECK(again->hardware->scale == 0.5);
}

TEST_CASE("calibration: a sequence has a step's kernels in their order, and nothing that waits for others") {
  const auto program = smallProgram();
  const std::vector<core::Index> wanted = kernelsOf(*program);
  const auto sequence = sequenceProgram(*program, 3);
  REQUIRE(sequence);
  std::vector<core::Index> found;
  int live = 0;
  for (const core::Instruction& instruction : sequence->step) {
    REQUIRE(instruction.kind != core::InstructionKind::collective);
    if (instruction.kind == core::InstructionKind::allocate) ++live;
    if (instruction.kind == core::InstructionKind::release) --live;
    if (instruction.kind != core::InstructionKind::kernel) continue;
    CHECK(instruction.stream == 0);
    found.push_back(instruction.operand);
  }
  CHECK(live == 0);
  REQUIRE(found.size() == 3 * wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == wanted[i % wanted.size()]);

  core::StepProgram empty = *program;
  empty.step.clear();
  CHECK(sequenceProgram(empty, 3) == nullptr);
}
