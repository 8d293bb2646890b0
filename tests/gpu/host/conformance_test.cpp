// One program, two executors: the simulator and the host executor must issue the same, respect the same
// dependencies and keep the same memory; and the data that the host executor moves must be what a training
// without any distribution computes.

#include <catch2/catch.hpp>

#include <random>

#include "core/program/hazards.h"
#include "gpu/host/host_executor.h"
#include "tests/gpu/support/conformance_cases.h"
#include "tests/gpu/support/data_checker.h"
#include "tests/gpu/support/final_state.h"
#include "tests/gpu/support/log_checks.h"

using namespace vsim;
using namespace vsim::core;
using namespace vsim::test;

namespace {

constexpr int kSteps = 3;
constexpr std::uint64_t kSeed = 7;

HookReads hookReads(const StepProgram& program, const TrainModel& model) {
  return [unsharded = UnshardedParameters(program, model)](const std::string& label) {
    std::vector<Index> buffers;
    for (const UnshardedUnit& unit : unsharded.at(label))
      buffers.insert(buffers.end(), unit.buffers.begin(), unit.buffers.end());
    return buffers;
  };
}

void checkCase(const System& system, const ConformanceCase& what, int maxDelay) {
  INFO(system.name() << ", " << what.name);
  const auto program = programOf(system, what);
  const TrainModel model = oddModel(what.model);
  const auto dag = ProgramDag::build(*program, kSteps);
  REQUIRE(dag);
  REQUIRE(dag->topologicalOrder().size() == dag->nodes().size());
  const auto hazards = findHazards(*program, kSteps, hookReads(*program, model), 1);
  REQUIRE(hazards);
  CHECK((hazards->empty() ? std::string() : hazards->front().text) == "");

  const ReferenceTraining reference(*program, what.options, what.ranks(), kSeed, kSteps);
  DataChecker checker(*program, model, reference);
  gpu::HostExecutor host(
      {.ranks = what.ranks(), .seed = kSeed, .maxDelay = maxDelay, .observer = [&](const auto& seen) {
         checker(seen);
       }});
  const auto real = host.execute(program, kSteps);
  REQUIRE((real ? std::string() : real.error().text()) == "");
  CHECK(checker.firstProblem() == "");
  CHECK(checker.checked() > 0);
  CHECK(finalDifference(*program, reference, what.ranks(),
                        [&](int rank, Index buffer) { return host.contents(rank, buffer); }) == "");

  const ExecutionLog virtualLog = simulated(program, kSteps);
  CHECK(brokenDependency(*program, *dag, virtualLog.ranks.front()) == "");
  REQUIRE(real->ranks.size() == static_cast<std::size_t>(what.ranks()));
  for (const RankLog& rank : real->ranks) {
    INFO(rank.name);
    CHECK(difference(virtualLog.ranks.front(), rank) == "");
    CHECK(brokenDependency(*program, *dag, rank) == "");
    CHECK(rank.stepEnd.size() == kSteps);
  }
}

}  // namespace

TEST_CASE("both executors run every kind of program alike, and the data is right") {
  for (const auto& system : systems())
    for (const ConformanceCase& what : conformanceCases()) checkCase(*system, what, 0);
}

TEST_CASE("random delays of the streams change nothing") {
  const auto cases = conformanceCases();
  for (const auto& system : systems())
    for (const std::size_t i : {std::size_t{0}, cases.size() - 4, cases.size() - 1})
      checkCase(*system, cases[i], 150);
}

TEST_CASE("options together leave no wait out") {
  constexpr int kHazardCases = 300, kRunEvery = 20;
  std::mt19937 random(5);
  const auto pick = [&](std::int64_t count) { return static_cast<std::int64_t>(random() % count); };
  for (int i = 0; i < kHazardCases; ++i) {
    ConformanceCase what;
    what.name = fmt::format("combination {}", i);
    what.model = {.layers = static_cast<int>(1 + pick(4)),
                  .separateRoots = pick(2) == 1,
                  .experts = pick(3) == 0,
                  .recompute = pick(2) == 1};
    TrainOptions& o = what.options;
    o.parallel = {.fsdp = std::int64_t{1} << pick(3), .replicate = 1 + pick(2), .expert = 1, .tensor = 1};
    if (what.model.experts && o.parallel.fsdp > 1) o.parallel.expert = 2;
    what.model.experts = o.parallel.expert > 1;
    const DType half = DType::bf16, single = DType::fp32;
    o.precision = {pick(3) == 0 ? half : single, pick(3) == 0 ? single : half, pick(3) == 0 ? half : single};
    o.accumulation = 1 + pick(3);
    o.system.reshardAfterForward = static_cast<ReshardAfterForward>(pick(3));
    o.system.forwardPrefetch = pick(3);
    o.system.backwardPrefetch = pick(3);
    o.system.reduceScatterInputs = 1 + pick(3);
    o.system.asyncUnshard = pick(4) == 0;
    o.system.separateRoots = what.model.separateRoots;
    o.system.accumulateUnsharded = pick(3) == 0;
    o.system.deferFinalWait = pick(3) == 0;
    o.system.separateReduceCommunicator = pick(3) == 0;
    what.name += fmt::format(
        ": {} layers, fsdp {} x {}, expert {}, {}/{}/{}, {} micro-batches{}{}, reshard {}, prefetch {} {}, "
        "inputs {}{}{}",
        what.model.layers, o.parallel.fsdp, o.parallel.replicate, o.parallel.expert, name(o.precision.params),
        name(o.precision.compute), name(o.precision.reduce), o.accumulation,
        o.system.accumulateUnsharded ? " kept unsharded" : "",
        o.system.deferFinalWait ? ", last backward marked" : "",
        static_cast<int>(o.system.reshardAfterForward), o.system.forwardPrefetch, o.system.backwardPrefetch,
        o.system.reduceScatterInputs, o.system.asyncUnshard ? ", async unshard" : "",
        o.system.separateRoots ? ", separate roots" : "");
    for (const auto& system : systems()) {
      INFO(system->name() << ", " << what.name);
      const auto program = programOf(*system, what);
      const auto hazards = findHazards(*program, kSteps, hookReads(*program, oddModel(what.model)), 1);
      REQUIRE(hazards);
      CHECK((hazards->empty() ? std::string() : hazards->front().text) == "");
      if (i % kRunEvery == 0) checkCase(*system, what, 50);
    }
  }
}

TEST_CASE("the critical path is the time of a simulated step where nothing slows anything down") {
  for (const auto& system : systems()) {
    for (const ConformanceCase& what : conformanceCases()) {
      INFO(system->name() << ", " << what.name);
      auto program = std::make_shared<StepProgram>(*programOf(*system, what));
      // Operations of several launches begin before the last one is issued: not a matter of dependencies.
      for (Operation& operation : program->operations) operation.count = 1;
      const CostTable costs = simpleCosts(*program);
      Durations durations{.launch = costs.launch, .hostCall = costs.hostCall};
      for (const Cost& cost : costs.operations) durations.operations.push_back(cost.time);
      for (const Cost& cost : costs.collectives) durations.collectives.push_back(cost.time);
      const auto path = criticalPath(*program, durations);
      REQUIRE(path);
      const ExecutionLog log = simulated(program, 1);
      CHECK(path->length == log.ranks.front().stepEnd.front());
    }
  }
}
