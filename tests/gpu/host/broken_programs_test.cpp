// Programs that must not work: missing waits and collectives that do not fit each other.

#include <catch2/catch.hpp>

#include "core/program/hazards.h"
#include "gpu/host/host_executor.h"
#include "tests/gpu/support/conformance_cases.h"
#include "tests/gpu/support/data_checker.h"

using namespace vsim;
using namespace vsim::core;
using namespace vsim::test;

namespace {

ConformanceCase plainCase() { return conformanceCases().front(); }

using Picker = std::function<bool(const StepProgram&, const Instruction&)>;

std::shared_ptr<StepProgram> without(const StepProgram& program, const Picker& drop) {
  auto changed = std::make_shared<StepProgram>(program);
  std::erase_if(changed->step, [&](const Instruction& i) { return drop(program, i); });
  return changed;
}

bool onStream(const StepProgram& program, const Instruction& i, InstructionKind kind, const char* stream) {
  return i.kind == kind && program.streams[i.stream] == stream;
}

HookReads hookReads(const StepProgram& program, const ConformanceCase& what) {
  return [unsharded = UnshardedParameters(program, oddModel(what.model))](const std::string& label) {
    std::vector<Index> buffers;
    for (const UnshardedUnit& unit : unsharded.at(label))
      buffers.insert(buffers.end(), unit.buffers.begin(), unit.buffers.end());
    return buffers;
  };
}

std::size_t hazardsIn(const StepProgram& program, const ConformanceCase& what) {
  const auto found = findHazards(program, 2, hookReads(program, what), 1);
  REQUIRE(found);
  return found->size();
}

/// Runs with delays until the checker sees wrong data; answers how many runs that took, 0: never.
int runsUntilWrong(const std::shared_ptr<const StepProgram>& program, const ConformanceCase& what) {
  constexpr int kRuns = 20, kSteps = 2;
  for (int run = 1; run <= kRuns; ++run) {
    const auto seed = static_cast<std::uint64_t>(run);
    const ReferenceTraining reference(*program, what.options, what.ranks(), seed, kSteps);
    DataChecker checker(*program, oddModel(what.model), reference);
    gpu::HostExecutor host(
        {.ranks = what.ranks(), .seed = seed, .maxDelay = 2000, .observer = [&](const auto& seen) {
           checker(seen);
         }});
    REQUIRE(host.execute(program, kSteps));
    if (!checker.firstProblem().empty()) return run;
  }
  return 0;
}

}  // namespace

TEST_CASE("every kind of missing wait is found in the graph") {
  struct Missing {
    const char* system;
    InstructionKind kind;
    const char* stream;
  };
  using enum InstructionKind;
  const std::vector<Missing> all{
      {"vescale", waitEvent, "default"},  // compute before the gather has ended
      {"vescale", waitEvent, "AG"},       // the gather buffer given back while compute reads it
      {"vescale", waitStream, "RS"},      // reduction before the gradients are there
      {"vescale", waitStream, "AG"},      // gather before the optimizer has written
      {"fsdp2", waitEvent, "default"},   {"fsdp2", waitEvent, "copy_in"},
      {"fsdp2", waitStream, "AG"},       {"fsdp2", waitStream, "RS"},
  };
  const ConformanceCase what = plainCase();
  for (const Missing& missing : all) {
    INFO(missing.system << " " << missing.stream << " " << static_cast<int>(missing.kind));
    const auto program = programOf(*findSystem(missing.system), what);
    REQUIRE(hazardsIn(*program, what) == 0);
    const auto broken = without(*program, [&](const StepProgram& p, const Instruction& i) {
      return onStream(p, i, missing.kind, missing.stream);
    });
    REQUIRE(broken->step.size() < program->step.size());
    CHECK(hazardsIn(*broken, what) > 0);
  }
}

TEST_CASE("one missing wait is found in the graph") {
  const ConformanceCase what = plainCase();
  for (const auto& system : systems()) {
    const auto program = programOf(*system, what);
    std::size_t waits = 0, found = 0;
    for (std::size_t i = 0; i < program->step.size(); ++i) {
      const Instruction& instruction = program->step[i];
      // What compute waits for: gathers, and reductions that still read their input.
      if (!onStream(*program, instruction, InstructionKind::waitEvent, "default")) continue;
      auto broken = std::make_shared<StepProgram>(*program);
      broken->step.erase(broken->step.begin() + static_cast<std::ptrdiff_t>(i));
      ++waits;
      if (hazardsIn(*broken, what) > 0) ++found;
    }
    INFO(system->name() << ": " << found << " of " << waits);
    // The rest is implied by other waits (a later gather on the same stream, a later reduction).
    CHECK(found * 2 >= waits);
    CHECK(waits > 0);
  }
}

TEST_CASE("missing waits show in the data") {
  const ConformanceCase what = plainCase();
  for (const auto& system : systems()) {
    INFO(system->name());
    const auto program = programOf(*system, what);
    CHECK(runsUntilWrong(without(*program,
                                 [](const StepProgram& p, const Instruction& i) {
                                   return onStream(p, i, InstructionKind::waitEvent, "default");
                                 }),
                         what) > 0);
  }
}

TEST_CASE("memory given back too early shows in the data") {
  const ConformanceCase what = plainCase();
  const auto program = programOf(*findSystem("vescale"), what);
  CHECK(runsUntilWrong(without(*program,
                               [](const StepProgram& p, const Instruction& i) {
                                 return onStream(p, i, InstructionKind::waitEvent, "AG") ||
                                        (onStream(p, i, InstructionKind::waitStream, "AG"));
                               }),
                       what) > 0);
}

namespace {

std::string errorOf(const std::vector<std::shared_ptr<const StepProgram>>& programs, int timeout) {
  gpu::HostExecutor host({.ranks = static_cast<int>(programs.size()), .timeout = timeout});
  const auto log = host.executeEach(programs, 1);
  return log ? "" : log.error().text();
}

}  // namespace

TEST_CASE("collectives that do not fit each other end with an error") {
  ConformanceCase what = plainCase();
  what.options.parallel.fsdp = 2;
  const auto program = programOf(*findSystem("fsdp2"), what);

  SECTION("other sizes") {
    auto other = std::make_shared<StepProgram>(*program);
    for (Collective& c : other->collectives)
      if (c.kind == CollectiveKind::reduceScatter) {
        c.sendElements -= 2;
        c.receiveElements -= 1;
      }
    const std::string error = errorOf({program, other}, 60'000);
    INFO(error);
    CHECK(error.find("mismatched collective in group dp_shard of ranks 0, 1") != std::string::npos);
    CHECK(error.find("rank 1: reduce_scatter(") != std::string::npos);
    CHECK(error.find("rank 0: reduce_scatter(") != std::string::npos);
  }
  SECTION("another operation") {
    auto other = std::make_shared<StepProgram>(*program);
    for (Collective& c : other->collectives)
      if (c.kind == CollectiveKind::allGather) c.kind = CollectiveKind::broadcast;
    const std::string error = errorOf({program, other}, 60'000);
    INFO(error);
    CHECK(error.find("rank 1: broadcast(R)") != std::string::npos);
    CHECK(error.find("rank 0: all_gather(R)") != std::string::npos);
  }
  SECTION("one that never comes") {
    auto other = std::make_shared<StepProgram>(*program);
    const auto last = std::find_if(other->step.rbegin(), other->step.rend(), [](const Instruction& i) {
      return i.kind == InstructionKind::collective;
    });
    other->step.erase(std::next(last).base());
    const std::string error = errorOf({program, other}, 1500);
    INFO(error);
    CHECK(error.find("nothing moved for 1500 ms: in group dp_shard of ranks 0, 1, rank 1 did not come to "
                     "rank 0: all_reduce") != std::string::npos);
  }
  SECTION("a communicator whose order contradicts the streams' order") {
    // The reduction is issued first but waits for the gather behind it in the same communicator.
    StepProgram tiny;
    tiny.streams = {"a", "b"};
    tiny.groups = {{"dp_shard", 2, 1}};
    tiny.collectives = {{.kind = CollectiveKind::allReduce, .sendElements = 1, .receiveElements = 1}};
    tiny.events = 1;
    tiny.step = {{.kind = InstructionKind::collective, .stream = 0, .operand = 0},
                 {.kind = InstructionKind::collective, .stream = 1, .operand = 0}};
    auto silent = tiny;
    silent.step.pop_back();
    const std::string error =
        errorOf({std::make_shared<StepProgram>(tiny), std::make_shared<StepProgram>(silent)}, 300);
    INFO(error);
    CHECK(error.find("rank 1 did not come to rank 0: all_reduce") != std::string::npos);
  }
}

TEST_CASE("programs that the host executor cannot run are refused") {
  const auto program = programOf(*findSystem("vescale"), plainCase());
  const auto refused = [](const StepProgram& bad, int ranks) {
    gpu::HostExecutor host({.ranks = ranks});
    const auto log = host.execute(std::make_shared<StepProgram>(bad), 1);
    return log ? std::string() : log.error().message;
  };
  CHECK(refused(*program, 3).find("does not divide 3 ranks") != std::string::npos);
  CHECK(refused(*program, 0).find("0 ranks") != std::string::npos);
  StepProgram changed = *program;
  for (Operation& op : changed.operations)
    if (op.name == "adamw") op.name = "adam8bit";
  CHECK(refused(changed, 4).find("optimizer adam8bit runs in simulation alone") != std::string::npos);
  changed = *program;
  changed.buffers.front().dtype = DType::fp8;
  CHECK(refused(changed, 4).find("does not compute in") != std::string::npos);
  changed = *program;
  std::erase_if(changed.step, [](const Instruction& i) { return i.kind == InstructionKind::allocate; });
  CHECK(refused(changed, 4).find("is used while it is not live") != std::string::npos);
  gpu::HostExecutor host({.ranks = 4});
  CHECK(!host.execute(nullptr, 1));
  CHECK(!host.execute(program, 0));
}
