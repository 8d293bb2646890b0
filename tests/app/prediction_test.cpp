#include <catch2/catch.hpp>

#include <algorithm>

#include "app/load.h"
#include "app/prediction.h"
#include "app/run.h"
#include "core/report/json.h"

using namespace vsim;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

core::RunReport report(const std::string& scenario, const Pairs& overrides) {
  const auto results = app::run({.scenario = scenario, .overrides = overrides}, {});
  if (!results) FAIL(core::text(results.error()));
  return results->front().report;
}

/// The JSON without the field that holds the wall time.
std::string stableJson(core::RunReport run) {
  run.facts.wallSeconds = 0;
  return core::toJson("x", std::vector<core::RunReport>{run});
}

}  // namespace

TEST_CASE("moe_10k: a step of 10,240 GPUs", "[app]") {
  const core::RunReport run = report("scenario/moe_10k.yaml", {});
  CHECK(run.facts.gpus == 10240);
  CHECK(run.facts.tokensPerStep == 125829120);
  CHECK(run.facts.parameters == 803514313728);
  CHECK(run.completed);
  CHECK(run.fits);
  CHECK(run.mfu > 0.02);
  CHECK(run.mfu < run.hfu);
  CHECK(run.hfu < 1.0);
  CHECK(run.provenance[0] + run.provenance[1] + run.provenance[2] + run.provenance[3] == Approx(1.0));
  CHECK(run.provenance[1] > 0);  // collectives derived from the profile
  CHECK(run.exposedCommSeconds <= run.commSeconds);
  CHECK(run.computeSeconds + run.exposedCommSeconds + run.bubbleSeconds == Approx(run.stepSeconds));
}

TEST_CASE("The same input gives the same output", "[app]") {
  CHECK(stableJson(report("moe_10k", {})) == stableJson(report("moe_10k", {})));
}

TEST_CASE("More replicas at fixed batch per GPU: same instructions, never a faster step", "[app]") {
  double before = 0;
  std::uint64_t instructions = 0;
  for (const char* gpus : {"1024", "2048", "4096", "10240"}) {
    const auto results =
        app::run({.scenario = "moe_10k",
                  .overrides = {{"cluster.gpus", gpus},
                                {"parallel.replicate", std::to_string(std::stoi(gpus) / 1024)}},
                  .keepLogs = true},
                 {});
    REQUIRE(results);
    const app::RunResult& run = results->front();
    CHECK(run.report.stepSeconds >= before * 0.999);
    before = run.report.stepSeconds;
    if (std::string(gpus) == "2048") instructions = run.log->instructionsExecuted;
    if (instructions > 0) CHECK(run.log->instructionsExecuted == instructions);
  }
}

TEST_CASE("Both systems: veScale's layout needs no copies and less memory", "[app]") {
  const Pairs llama{{"systems", "[vescale, fsdp2]"}};
  const auto results = app::run({.scenario = "llama3_8b_64", .overrides = llama}, {});
  if (!results) FAIL(core::text(results.error()));
  REQUIRE(results->size() == 2);
  const core::RunReport& vescale = (*results)[0].report;
  const core::RunReport& fsdp2 = (*results)[1].report;
  CHECK(vescale.facts.system == "vescale");
  CHECK(fsdp2.facts.system == "fsdp2");
  CHECK(vescale.stepSeconds <= fsdp2.stepSeconds);
  CHECK(vescale.facts.tokensPerStep == fsdp2.facts.tokensPerStep);
}

TEST_CASE("A run that does not fit says by how much", "[app]") {
  const core::RunReport run = report("moe_10k", {{"activation_checkpointing", "none"}});
  CHECK_FALSE(run.fits);
  CHECK(run.marginBytes < 0);
}

TEST_CASE("Checkpointing trades memory for recomputation", "[app]") {
  const core::RunReport none = report("llama3_8b_64", {{"activation_checkpointing", "none"}});
  const core::RunReport full = report("llama3_8b_64", {{"activation_checkpointing", "full"}});
  CHECK(full.peakAllocated < none.peakAllocated);
  CHECK(full.computeSeconds > none.computeSeconds);
  CHECK(none.mfu == Approx(none.hfu));
  CHECK(full.hfu > full.mfu);
}

TEST_CASE("Wrong scenarios come back as errors with a place", "[app]") {
  const auto missing = app::run({.scenario = "no_such_scenario.yaml"}, {});
  REQUIRE_FALSE(missing);
  CHECK_FALSE(core::text(missing.error()).empty());
  const auto wrong = app::run({.scenario = "moe_10k", .overrides = {{"cluster.gpus", "1e30"}}}, {});
  REQUIRE_FALSE(wrong);
}
