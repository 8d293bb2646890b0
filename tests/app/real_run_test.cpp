#include "app/real_run.h"

#include <catch2/catch.hpp>
#include <set>

#include "app/calibrate.h"
#include "app/duration.h"
#include "app/machine.h"
#include "app/real_profile.h"
#include "app/share_outcome.h"
#include "tests/gpu/calibrate/simulated_machine.h"
#include "tests/support/temporary_folder.h"

using namespace vsim;

namespace {

constexpr const char* kScenario = R"(vsim: 1
name: small
model: {name: small, layers: 2, hidden: 256, heads: 4, kv_heads: 4, intermediate: 704, vocabulary: 1024}
cluster: {preset: h200-rail-optimized, gpus: 4}
parallel: {fsdp: 4}
systems: [vescale, fsdp2]
batch: {sequence: 512, micro_batch: 1}
real: {steps: 4, warmup: 1}
)";

core::Scenario scenario(const std::vector<std::pair<std::string, std::string>>& overrides = {},
                        const app::RealRunOptions& real = {}) {
  const test::TemporaryFolder folder;
  test::writeFile(folder / "small.yaml", kScenario);
  auto loaded = app::loadRealScenario({.scenario = folder / "small.yaml", .overrides = overrides}, real);
  if (!loaded) throw std::runtime_error(core::text(loaded.error()));
  return *loaded;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Hears the leader.
class Follower : public test::SimulatedMachine {
 public:
  explicit Follower(std::string heard)
      : SimulatedMachine(test::factsOf({4}), test::simpleTruth()), heard_(std::move(heard)) {}
  [[nodiscard]] bool leads() const override { return false; }
  [[nodiscard]] core::Result<std::string> broadcast(const std::string&) override { return heard_; }

 private:
  std::string heard_;
};

/// Fails from its execution number `from` on.
class Failing : public test::SimulatedMachine {
 public:
  explicit Failing(int from) : SimulatedMachine(test::factsOf({4}), test::simpleTruth()), from_(from) {}
  [[nodiscard]] core::Result<core::ExecutionLog> execute(std::shared_ptr<const core::StepProgram> program,
                                                         int steps) override {
    if (executions >= from_) return core::fail("rank 2 (host0): all_gather of group dp_shard timed out");
    return SimulatedMachine::execute(std::move(program), steps);
  }

 private:
  int from_;
};

}  // namespace

TEST_CASE("A machine that costs what its profile says is predicted", "[app]") {
  test::SimulatedMachine machine(test::factsOf({4}), test::simpleTruth());
  const auto run = app::realRun(machine, scenario(), {.budgetSeconds = 5}, {});
  if (!run) FAIL(core::text(run.error().errors));
  CHECK(run->calibrated);
  CHECK(run->profileName == "measured for this run");
  REQUIRE(run->results.size() == 2);
  for (const app::RealResult& result : run->results) {
    const core::Verdict& v = result.verdict;
    INFO(core::toText(v));
    CHECK(v.ranks == 4);
    CHECK(v.warmup == 1);
    CHECK(v.measuredSteps.size() == 4);
    CHECK(v.scenario == "small");
    CHECK(v.executor == "cuda");
    REQUIRE(v.stepSeconds.error());
    CHECK(std::abs(*v.stepSeconds.error()) < 0.1);
    double difference = 0;
    for (const core::VerdictPart& part : v.contributors) difference += part.seconds.difference();
    CHECK(difference == Approx(v.stepSeconds.difference()).margin(1e-9));
    CHECK(result.measured.stepSeconds == Approx(v.stepSeconds.measured).epsilon(0.05));
    CHECK(result.predicted.stepSeconds == Approx(v.stepSeconds.predicted));
    CHECK(contains(result.measured.facts.system, "(measured)"));
    CHECK(result.measuredLog->ranks.size() == 4);
    CHECK(result.predictedLog->ranks.size() == 1);
  }
}

TEST_CASE("A profile of this hardware is used, one of other hardware is warned of and measured anew",
          "[app]") {
  test::SimulatedMachine machine(test::factsOf({4}), test::simpleTruth());
  auto first = app::realRun(machine, scenario(), {.budgetSeconds = 5}, {});
  if (!first) FAIL(core::text(first.error().errors));
  const test::TemporaryFolder folder;
  const std::string file = folder / "mine.yaml";
  test::writeFile(file, core::profileText(first->profile));
  const auto second = app::realRun(machine, scenario(), {.profile = file, .budgetSeconds = 5}, {});
  if (!second) FAIL(core::text(second.error().errors));
  CHECK_FALSE(second->calibrated);
  CHECK(second->profileName == file);
  CHECK(second->warnings.empty());

  core::Profile other = first->profile;
  other.hardware->device = "NVIDIA A100";
  test::writeFile(file, core::profileText(other));
  const auto third = app::realRun(machine, scenario(), {.profile = file, .budgetSeconds = 5}, {});
  if (!third) FAIL(core::text(third.error().errors));
  CHECK(third->calibrated);
  REQUIRE(third->warnings.size() == 1);
  CHECK(contains(third->warnings[0], "NVIDIA A100"));
  CHECK(contains(third->warnings[0], "calibrated anew"));
}

TEST_CASE("What makes hardware another: executor and device; on the host its ranks and scale, too", "[app]") {
  gpu::MachineFacts facts = test::factsOf({4});
  core::Profile profile;
  CHECK_FALSE(app::hardwareDifference(profile, facts, 1).empty());  // says nothing of hardware
  profile.gpus = 8;
  profile.hardware.emplace();
  profile.hardware->executor = "cuda";
  profile.hardware->device = "Simulated H200";
  CHECK(app::hardwareDifference(profile, facts, 0.5).empty());  // profiles of GPUs are extrapolated
  facts.executor = "host";
  CHECK(contains(app::hardwareDifference(profile, facts, 1), "executor"));
  profile.hardware->executor = "host";
  CHECK(contains(app::hardwareDifference(profile, facts, 1), "8 ranks"));
  profile.gpus = 4;
  CHECK(app::hardwareDifference(profile, facts, 1).empty());
  CHECK(contains(app::hardwareDifference(profile, facts, 0.5), "real.scale"));
}

TEST_CASE("Other libraries than those of the profile are told", "[app]") {
  gpu::MachineFacts facts = test::factsOf({4});
  core::Profile profile;
  CHECK(app::versionDifferences(profile, facts).empty());
  profile.hardware.emplace();
  facts.versions = {{"driver", "580.65"}, {"nccl", "2.28.3"}, {"blas", "13.1"}};
  profile.hardware->versions = {{"driver", "570.1"}, {"nccl", "2.28.3"}, {"compiler", "12"}};
  CHECK(app::versionDifferences(profile, facts) ==
        std::vector<std::string>{"was measured with driver 570.1, here is 580.65"});
}

TEST_CASE("Input is refused as input, the machine's failures are the machine's", "[app]") {
  test::SimulatedMachine two(test::factsOf({2}), test::simpleTruth());
  const auto ranks = app::realRun(two, scenario(), {}, {});
  REQUIRE_FALSE(ranks);
  CHECK(ranks.error().wrongInput);
  CHECK(contains(core::text(ranks.error().errors), "--set cluster.gpus=2"));
  CHECK(two.executions == 0);

  test::SimulatedMachine four(test::factsOf({4}), test::simpleTruth());
  const auto missing = app::realRun(four, scenario(), {.profile = "/nowhere/profile.yaml"}, {});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().wrongInput);
  CHECK(contains(core::text(missing.error().errors), "/nowhere/profile.yaml"));
  CHECK(four.executions == 0);

  Failing failing(0);
  const auto failed = app::realRun(failing, scenario(), {.budgetSeconds = 5}, {});
  REQUIRE_FALSE(failed);
  CHECK_FALSE(failed.error().wrongInput);
  CHECK(contains(core::text(failed.error().errors), "rank 2 (host0)"));
}

TEST_CASE("Ranks that fit no layout get the --set that does", "[app]") {
  const core::Scenario s = scenario();
  CHECK(app::checkRanks(s, 4));
  CHECK(contains(app::checkRanks(s, 8).error().hint, "cluster.gpus=8 --set parallel.replicate=2"));
  CHECK(contains(app::checkRanks(s, 3).error().hint, "cluster.gpus=3 --set parallel.fsdp=3"));
  CHECK(contains(app::checkRanks(s, 1).error().message, "1 rank"));
  // What the hint says can be read.
  CHECK(scenario({{"cluster.gpus", "8"}, {"parallel.replicate", "2"}}).cluster.gpus == 8);
  CHECK(app::checkRanks(
      scenario({{"cluster.gpus", "3"}, {"parallel.fsdp", "3"}, {"parallel.replicate", "1"}}), 3));
}

TEST_CASE("Steps: the scenario's, the command's, and what is too many", "[app]") {
  CHECK(scenario().real.steps == 4);
  CHECK(scenario({}, {.steps = 7, .warmup = 0}).real.steps == 7);
  CHECK(scenario({}, {.steps = 7, .warmup = 0}).real.warmup == 0);
  CHECK_THROWS(scenario({}, {.steps = 250, .warmup = 6}));
  CHECK_THROWS(scenario({{"sweep", "{batch.micro_batch: [1, 2]}"}}));
}

TEST_CASE("The leader's outcome is everybody's", "[app]") {
  test::SimulatedMachine leader(test::factsOf({4}), test::simpleTruth());
  REQUIRE(app::shareOutcome(leader, []() -> app::Outcome<void> { return {}; }));
  REQUIRE(leader.said.size() == 1);
  Follower content(leader.said[0]);
  CHECK(app::shareOutcome(content, []() -> app::Outcome<void> { return app::wrongInput(core::Error{}); }));

  const core::Error error{
      .message = "a \"quoted\"\nmessage", .file = "x.yaml", .line = 3, .column = 7, .hint = "try"};
  CHECK_FALSE(app::shareOutcome(leader, [&]() -> app::Outcome<void> { return app::wrongInput(error); }));
  Follower follower(leader.said.back());
  const auto heard = app::shareOutcome(follower, []() -> app::Outcome<void> { return {}; });
  REQUIRE_FALSE(heard);
  CHECK(heard.error().wrongInput);
  CHECK(core::text(heard.error().errors) == core::text({error}));
  Follower confused("no json");
  CHECK_FALSE(app::shareOutcome(confused, []() -> app::Outcome<void> { return {}; }));
}

TEST_CASE("Durations", "[app]") {
  CHECK(*app::parseDuration("90") == 90);
  CHECK(*app::parseDuration("90s") == 90);
  CHECK(*app::parseDuration("10m") == 600);
  CHECK(*app::parseDuration("1.5h") == 5400);
  for (const char* wrong : {"", "m", "ten", "10x", "-1", "0", "1e400", "nan", "31000m0", "9999h", "10 m"}) {
    INFO(wrong);
    CHECK_FALSE(app::parseDuration(wrong));
  }
  CHECK(app::durationText(44.6) == "45 s");
  CHECK(app::durationText(200) == "3 min 20 s");
  CHECK(app::durationText(3900) == "1 h 5 min");
}

TEST_CASE("Executors by name", "[app]") {
  CHECK(*app::executorNamed("host") == app::ExecutorChoice::host);
  CHECK(*app::executorNamed("cuda") == app::ExecutorChoice::cuda);
  CHECK(*app::executorNamed("auto") == app::ExecutorChoice::automatic);
  CHECK(contains(app::executorNamed("hots").error().hint, "host"));
  CHECK_FALSE(app::executorNamed(""));
}

TEST_CASE("Calibration of a machine: file name, tables, what is missing", "[app]") {
  test::SimulatedMachine machine(test::factsOf({4}), test::simpleTruth());
  const auto calibration =
      app::calibrateMachine(machine, scenario(), {.budgetSeconds = 5, .started = "2026-11-30T12:00:00Z"}, {});
  if (!calibration) FAIL(core::text(calibration.error().errors));
  CHECK(app::profileFileName(calibration->profile) == "vsim_profile_simulated_h200_4.yaml");
  const std::string text = app::calibrationText(*calibration);
  INFO(text);
  for (const char* words : {"4 ranks of Simulated H200", "measurements in", "busbw(GB/s)", "all_gather",
                            "TFLOP/s", "one launch", "levels that collectives crossed: node", "missing:"})
    CHECK(contains(text, words));
  // Without a scenario: the kernels of any model, so that none of a profile's users is without.
  const auto bare = app::calibrateMachine(machine, std::nullopt, {.budgetSeconds = 60}, {});
  if (!bare) FAIL(core::text(bare.error().errors));
  std::set<std::string> kernels;
  for (const core::ProfiledOperation& point : bare->profile.operations) kernels.insert(point.name);
  for (const char* name : {"adamw", "copy_in", "copy_out", "reduce_copy_in", "grad_cast", "accumulate",
                           "cast_shard", "cast_gradients", "store_gradients", "copy", "gemm", "attention"})
    CHECK((kernels.contains(name) ? "" : name) == std::string());
  core::Profile strange;
  strange.gpu = "Ämd / EPYC (tm) ";
  strange.gpus = 2;
  CHECK(app::profileFileName(strange) == "vsim_profile_md_epyc_tm_2.yaml");
  strange.gpu = "///";
  CHECK(app::profileFileName(strange) == "vsim_profile_unknown_2.yaml");

  const auto wrong =
      app::calibrateMachine(machine, scenario({{"cluster.gpus", "8"}, {"parallel.replicate", "2"}}), {}, {});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().wrongInput);
}
