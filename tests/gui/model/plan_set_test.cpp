#include "gui/model/plan_set.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "app/plan_output.h"
#include "gui/model/plan_map.h"
#include "tests/folders.h"

using namespace vsim;
using namespace vsim::gui;

namespace {

const std::atomic<bool> kNever{false};

OpenedRun runOf(const std::string& scenario) {
  std::ifstream in(std::string(VSIM_SOURCE_DIR) + "/scenarios/" + scenario + ".yaml");
  std::ostringstream text;
  text << in.rdbuf();
  OpenedRun run;
  run.scenario = std::string(VSIM_SOURCE_DIR) + "/scenarios/" + scenario + ".yaml";
  run.scenarioText = text.str();
  return run;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("plan set: the numbers of vsim plan") {
  for (const char* name : {"tiny", "gpt_oss_120b_64", "moe_10k", "mixtral_hsdp"}) {
    INFO(name);
    const auto source = planSource(runOf(name), 0);
    REQUIRE(source);
    const auto set = makePlanSet(*source, 0, kNever);
    REQUIRE(set);
    const app::PlanOptions options{.scenario = source->scenario};
    const auto plans = app::makePlans(options);
    REQUIRE(plans);
    REQUIRE(set->choices.size() > plans->size());
    const std::string text = app::plansText(*plans, options);
    for (std::size_t i = 0; i < plans->size(); ++i) {
      const PlanChoice& choice = set->choices[i];
      CHECK(choice.asRun);
      CHECK(choice.label == (*plans)[i].system);
      CHECK(choice.plan.paddingRatio() == (*plans)[i].paddingRatio());
      CHECK(contains(text, planPercent(choice.plan.paddingRatio())));
      REQUIRE(choice.plan.buckets.size() == (*plans)[i].buckets.size());
      for (std::size_t b = 0; b < choice.plan.buckets.size(); ++b) {
        const auto map =
            PlanMap::make(choice.plan.buckets[b], choice.plan.system, choice.plan.parameterBytes);
        REQUIRE(map);
        const BucketOf of{&*set, static_cast<std::int64_t>(i), static_cast<std::int64_t>(b)};
        const DataTable facts = factsTable(of, &*map, {}, nullptr);
        for (const auto& row : facts.rows) {
          INFO(row[0]);
          if (row[0] == "padding" || row[0] == "gap to the bound" || row[0] == "shard S (elements)" ||
              row[0] == "lower bound of S (elements)" || row[0] == "elements")
            CHECK(contains(text, row[1]));
          if (row[0] == "tensors with a cut block")
            CHECK(row[1] == core::formatCount(map->facts().cutTensors));
        }
      }
    }
  }
}

TEST_CASE("plan set: rules are those of vsim plan --systems") {
  const auto source = planSource(runOf("gpt_oss_120b_64"), 0);
  REQUIRE(source);
  const auto set = makePlanSet(*source, 0, kNever);
  REQUIRE(set);
  app::PlanOptions options{.scenario = source->scenario};
  options.rules = comparedRules();
  const auto plans = app::makePlans(options);
  REQUIRE(plans);
  for (const app::PlannedSystem& plan : *plans) {
    INFO(plan.system);
    const auto index = set->find(plan.system + " rule");
    const PlanChoice& choice = set->choices[static_cast<std::size_t>(
        index >= 0 ? index : set->find(plan.system))];  // those equal to the scenario's stand once
    CHECK(choice.plan.paddingRatio() == plan.paddingRatio());
    CHECK(choice.plan.cutTensors() == plan.cutTensors());
    CHECK(choice.plan.shardElements() == plan.shardElements());
  }
  // One row a system; veScale cuts no block, the flat parameter of FSDP1 does.
  const DataTable table = comparisonTable(*set);
  REQUIRE(table.rows.size() == set->choices.size());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    REQUIRE(table.rows[i].size() == table.header.size());
    if (set->choices[i].plan.system == "vescale") CHECK(table.rows[i][6] == "0");
    if (set->choices[i].plan.system == "fsdp1") CHECK(table.rows[i][6] != "0");
  }
}

TEST_CASE("plan set: buckets of two systems belong together by name and tensor") {
  const auto source = planSource(runOf("gpt_oss_120b_64"), 0);
  REQUIRE(source);
  const auto set = makePlanSet(*source, 0, kNever);
  REQUIRE(set);
  const PlanChoice& vescale = set->choices[0];
  const PlanChoice& megatron = set->choices[static_cast<std::size_t>(set->find("megatron rule"))];
  for (const app::PlannedBucket& bucket : vescale.plan.buckets)
    for (const core::PlanTensor& tensor : bucket.problem.tensors) {
      const auto at = bucketLike(megatron, bucket.name, tensor.name);
      REQUIRE(at >= 0);
      const auto& tensors = megatron.plan.buckets[static_cast<std::size_t>(at)].problem.tensors;
      CHECK(std::ranges::find(tensors, tensor.name, &core::PlanTensor::name) != tensors.end());
    }
  CHECK(bucketLike(megatron, "no such bucket", "") == -1);
}

TEST_CASE("plan set: group sizes are those of vsim plan --group-sizes") {
  const auto source = planSource(runOf("moe_10k"), 0);
  REQUIRE(source);
  const GroupSizeStudy study = studyGroupSizes(*source, kNever);
  REQUIRE(!study.sizes.empty());
  CHECK(study.sizes.back() == kLargestGroup);
  // 8 GPUs cannot hold 16 expert ranks.
  CHECK(study.sizes.front() == 16);
  CHECK(study.notes.size() == 1);
  app::PlanOptions options{.scenario = source->scenario};
  options.groupSizes = study.sizes;
  const auto plans = app::makePlans(options);
  REQUIRE(plans);
  REQUIRE(plans->size() == study.sizes.size());
  REQUIRE(study.systems.front() == "vescale");
  for (std::size_t i = 0; i < study.sizes.size(); ++i) {
    CHECK(study.values[0][i].padding == (*plans)[i].paddingRatio());
    CHECK(study.values[0][i].shardBytes == (*plans)[i].shardElements() * (*plans)[i].parameterBytes);
  }
  const DataTable table = groupSizeTable(study);
  CHECK(table.rows.size() == study.sizes.size());
  for (const auto& row : table.rows) CHECK(row.size() == table.header.size());
}

TEST_CASE("plan set: runs without a scenario say so") {
  OpenedRun run;
  CHECK(!planSource(run, 0));
  run.scenarioText = "vsim: 1\nname: broken\nmodel: {preset: no-such-model}\n";
  const auto source = planSource(run, 0);
  REQUIRE(source);
  CHECK(!makePlanSet(*source, 0, kNever));
  const std::atomic<bool> cancelled{true};
  const auto good = planSource(runOf("tiny"), 0);
  REQUIRE(good);
  CHECK(makePlanSet(*good, 0, cancelled)->choices.empty());
  CHECK(studyGroupSizes(*good, cancelled).sizes.empty());
}

TEST_CASE("plan set: values set on the command line count") {
  OpenedRun run = runOf("tiny");
  run.configuration = "cluster.gpus=8\nparallel.fsdp=8\n";
  const auto source = planSource(run, 0);
  REQUIRE(source);
  CHECK(makePlanSet(*source, 0, kNever)->devices == 8);
}
