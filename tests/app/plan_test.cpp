#include "app/plan.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/plan_output.h"
#include "app/size_list.h"
#include "core/plan/verifier.h"
#include "tests/support/temporary_folder.h"

using namespace vsim;
using Json = nlohmann::json;

namespace {

std::vector<app::PlannedSystem> plansOf(const app::PlanOptions& options) {
  auto plans = app::makePlans(options);
  if (!plans) FAIL(core::text(plans.error()));
  return std::move(*plans);
}

std::string problemErrors(const std::string& json) {
  const auto problems = app::parseProblems(json, "p.json", 0);
  return problems ? std::string() : core::text(problems.error());
}

/// Times differ from run to run.
std::vector<app::PlannedSystem> withoutTimes(std::vector<app::PlannedSystem> plans) {
  for (app::PlannedSystem& plan : plans) {
    plan.seconds = 0;
    for (app::PlannedBucket& bucket : plan.buckets) bucket.seconds = 0;
  }
  return plans;
}

}  // namespace

TEST_CASE("plan: group sizes as a list", "[app]") {
  CHECK(*app::parseSizeList("8..64") == std::vector<std::int64_t>{8, 16, 32, 64});
  CHECK(*app::parseSizeList("64,96,128..1024") == std::vector<std::int64_t>{64, 96, 128, 256, 512, 1024});
  CHECK(*app::parseSizeList("3..13,12") == std::vector<std::int64_t>{3, 6, 12});
  for (const char* wrong :
       {"", ",", "8,", "8..", "..8", "64..8", "0", "-8", "8x", "8...16", "1e3", "2000000000000"})
    CHECK_FALSE(app::parseSizeList(wrong));
}

TEST_CASE("plan: the text of a small model", "[app]") {
  const auto plans = withoutTimes(plansOf({.scenario = {.scenario = "tiny"}}));
  CHECK(app::plansText(plans, {}) ==
        R"(vescale: tiny on 4 GPUs, planned and verified in 0.000 ms
  bucket  copies  tensors  devices  elements  shard S  padding  lower bound      gap  order      time
  R            1        3        4   524,544  131,136  0.0000%      131,136  optimal  given  0.000 ms
  L1           3        9        4   737,792  184,448  0.0000%      184,448  optimal  given  0.000 ms
  padding of all buckets together: 0.0000%

fsdp2: tiny on 4 GPUs, planned and verified in 0.000 ms
  bucket  copies  tensors  devices  elements  shard S  padding  lower bound      gap  order  time
  R            1        3        4   524,544  131,136  0.0000%      131,136  optimal      -     -
  L1           3        9        4   737,792  184,448  0.0000%      184,448  optimal      -     -
  padding of all buckets together: 0.0000%
)");
}

TEST_CASE("plan: every bucket of the model in JSON, checked against the rules", "[app]") {
  app::PlanOptions options{.scenario = {.scenario = "deepseek_v3_1024"}};
  const auto plans = plansOf(options);
  const Json json = Json::parse(app::plansJson(plans, options));
  CHECK(json["scenario"] == "deepseek_v3_1024");
  CHECK_FALSE(json.contains("budget_ms"));
  const Json& plan = json["plans"][0];
  CHECK(plan["system"] == "vescale");
  CHECK(plan["devices"] == 1024);
  CHECK(plan["planning_time_s"].get<double>() >= 0);
  CHECK(plan["buckets"].size() == 1 + 3 + 2 * 58);
  double held = 0, needed = 0;
  for (const Json& bucket : plan["buckets"]) {
    core::LayoutProblem problem{.devices = bucket.value("devices", plan["devices"].get<std::int64_t>()),
                                .unit = bucket["unit_elements"],
                                .align = bucket["unit_elements"]};
    core::Layout layout{.devices = problem.devices,
                        .shardElements = bucket["shard_elements"],
                        .lowerBound = bucket["lower_bound_elements"]};
    for (const Json& t : bucket["tensors"]) {
      problem.tensors.push_back(
          {.name = t["name"], .shape = t["shape"], .elements = t["elements"], .block = t["block_elements"]});
      layout.unitElements += problem.tensors.back().elements;
      layout.offsets.push_back(t["offset_elements"]);
    }
    CHECK(core::verifyLayout(problem, layout).empty());
    CHECK(bucket["gap_ratio"].get<double>() == Approx(layout.gapRatio()));
    const auto count = bucket.value("instances", 1.0);
    held += count * static_cast<double>(layout.totalElements());
    needed += count * static_cast<double>(layout.unitElements);
  }
  CHECK(plan["total_elements"].get<double>() == Approx(needed));
  CHECK(plan["padding_ratio"].get<double>() == Approx(held / needed - 1));
}

TEST_CASE("plan: the same input gives the same layouts", "[app]") {
  const app::PlanOptions options{.presets = {"qwen3-30b-a3b"}, .presetRows = 16, .groupSizes = {128, 1024}};
  const auto once = app::plansJson(withoutTimes(plansOf(options)), options);
  CHECK(once == app::plansJson(withoutTimes(plansOf(options)), options));
}

TEST_CASE("plan: the search is never worse than the given order, and aligned as asked", "[app]") {
  app::PlanOptions options{
      .presets = {"qwen3-30b-a3b"}, .presetRows = 128, .align = 64, .groupSizes = {64, 128}};
  const auto searched = plansOf(options);
  options.searchOrder = false;
  const auto given = plansOf(options);
  REQUIRE(searched.size() == 2);
  for (std::size_t i = 0; i < searched.size(); ++i) {
    CHECK(searched[i].shardElements() < given[i].shardElements());
    for (const app::PlannedBucket& bucket : searched[i].buckets) {
      CHECK(bucket.layout.shardElements % 64 == 0);
      for (const std::int64_t offset : bucket.layout.offsets) CHECK(offset % 64 == 0);
    }
  }
}

TEST_CASE("plan: stacked experts as one tensor each", "[app]") {
  app::PlanOptions options{.presets = {"gpt-oss-120b"}, .presetRows = 128, .groupSizes = {256}};
  const auto stacked = plansOf(options);
  options.expertsApart = true;
  const auto apart = plansOf(options);
  const auto bucket = [](const app::PlannedSystem& plan) { return plan.buckets.at(1); };
  CHECK(apart[0].totalElements() == stacked[0].totalElements());
  CHECK(bucket(apart[0]).problem.tensors.size() == bucket(stacked[0]).problem.tensors.size() + 2 * 127);
  // Proven optima: 5.736 % stacked, 2.799 % apart.
  CHECK(bucket(stacked[0]).layout.paddingRatio() == Approx(0.05736).epsilon(0.001));
  CHECK(bucket(apart[0]).layout.paddingRatio() == Approx(0.02799).epsilon(0.001));
  std::size_t experts = 0;
  for (const core::PlanTensor& tensor : bucket(apart[0]).problem.tensors) {
    if (tensor.name.find("experts.127.") != std::string::npos) ++experts;
    CHECK(tensor.shape.size() <= 2);
  }
  CHECK(experts == 2);
}

TEST_CASE("plan: all layout rules on the same buckets", "[app]") {
  app::PlanOptions options{
      .presets = {"llama-3-8b", "deepseek-v3"}, .groupSizes = {64, 1000}, .rules = {"all"}};
  const auto plans = plansOf(options);
  std::int64_t elements = 0;
  for (const app::PlannedSystem& plan : plans) {
    INFO(plan.model << " " << plan.system << " " << plan.devices);
    CHECK(plan.refusal.empty());
    if (plan.system == "vescale") {
      elements = plan.totalElements();
      CHECK(plan.cutTensors() == 0);
    }
    CHECK(plan.totalElements() == elements);
    CHECK(plan.paddingRatio() >= 0);
    if (plan.system == "fsdp1") CHECK(plan.cutTensors() > 0);
  }
  const std::string text = app::comparisonText(plans, options);
  CHECK(text.find("megatron") != std::string::npos);
  CHECK(text.find("1,000") != std::string::npos);
  options.groupSizes = {64};
  CHECK(app::comparisonText(plansOf(options), options).find("cut tensors") != std::string::npos);
  options.rules = {"megatorn"};
  const auto wrong = app::makePlans(options);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().front().hint == "did you mean megatron?");
}

TEST_CASE("plan: fusion of layers that are equal but for their kernels", "[app]") {
  const app::PlanOptions options{.presets = {"gpt-oss-120b"}, .presetRows = 128, .groupSizes = {1024}};
  const auto plans = app::planFusion(options, 0);
  REQUIRE(plans);
  REQUIRE(plans->size() == 1);
  const app::FusionPlan& plan = plans->front();
  CHECK(plan.first == "L1");
  CHECK(plan.last == "L36");
  // Two layers fill the group: 111 % becomes 5.7 %, and the gathered bucket stays as large.
  CHECK(plan.choice.candidates[plan.choice.chosen].layersPerBucket == 2);
  CHECK(app::fusionText(*plans, options)
            .find("2 a bucket; against one layer a bucket: padding 5.736 instead of "
                  "111.472 %") != std::string::npos);
}

TEST_CASE("plan: group sizes that expert parallelism does not divide", "[app]") {
  const auto plans = app::makePlans({.scenario = {.scenario = "deepseek_v3_1024"}, .groupSizes = {96, 100}});
  REQUIRE_FALSE(plans);
  CHECK(plans.error().front().message.find("group size") == 0);
}

TEST_CASE("plan: problems of a file", "[app]") {
  const auto problems = app::parseProblems(R"({"instances": [
    {"name": "a", "m": 4, "note": {"x": [0.5]}, "cases": [{"m": 7}],
     "tensors": [{"name": "w", "shape": [6, 8], "elements": 48, "block": 16}, {"elements": 5}]},
    {"tensors": [{"shape": [3, 4]}], "cases": [{"m": 2, "S": 1}, {"m": 8}, {"m": 2}]}]})",
                                           "p.json", 4);
  if (!problems) FAIL(core::text(problems.error()));
  REQUIRE(problems->size() == 3);
  const core::LayoutProblem& first = (*problems)[0].problem;
  CHECK(first.devices == 4);
  CHECK(first.unit == 4);
  CHECK(first.align == 4);
  REQUIRE(first.tensors.size() == 2);
  CHECK(first.tensors[0].block == 16);
  CHECK(first.tensors[1].shape == std::vector<std::int64_t>{5});
  CHECK((*problems)[1].name == "instance 2");
  CHECK((*problems)[1].problem.devices == 2);
  CHECK((*problems)[2].problem.devices == 8);
  CHECK(app::parseProblems(R"({"instances":[{"m":1,"tensors":[]}]})", "p", 0)->front().problem.unit == 8);
}

TEST_CASE("plan: problem files that are wrong, with the place", "[app]") {
  const auto has = [](const std::string& json, const std::string& message) {
    const std::string errors = problemErrors(json);
    INFO(json << "\n" << errors);
    CHECK(errors.find(message) != std::string::npos);
  };
  has("", "p.json:1:1: truncated JSON");
  has("{\"instances\": [", "p.json:1:16: truncated JSON");
  has("[1, 2]", "p.json:1:1: the file must be an object, not a list");
  has("{}", "p.json:1:1: the file has no \"instances\"");
  has("{\"instances\": 3}", "p.json:1:15: \"instances\" must be a list, not a number");
  has("{\"instances\": []}", "p.json:1:1: no instances to plan");
  has("{\"instances\": [7]}", "p.json:1:16: an instance must be an object, not a number");
  has("{\"instances\": [{\"m\": 2}]}", "p.json:1:16: an instance has no \"tensors\"");
  const auto instance = [](const std::string& rest) { return "{\"instances\": [\n{" + rest + "}]}"; };
  has(instance(R"("tensors": [])"), "p.json:2:1: an instance has neither \"m\" nor \"cases\"");
  has(instance(R"("tensors": [], "cases": [])"), "\"cases\" is empty");
  has(instance(R"("tensors": [], "cases": [{}])"), "neither the instance nor this case has \"m\"");
  has(instance(R"("m": 0, "tensors": [])"), "p.json:2:7: \"m\" is 0, must be 1 or more");
  has(instance(R"("m": 2.5, "tensors": [])"), "2.5 is not a whole number");
  has(instance(R"("m": 99999999999999999999, "tensors": [])"), "p.json:2:7:");
  has(instance(R"("m": "two", "tensors": [])"), "must be a number, not text");
  has(instance(R"("m": 2, "tensors": [4])"), "a tensor must be an object");
  has(instance(R"("m": 2, "tensors": [{}])"), "a tensor has neither \"shape\" nor \"elements\"");
  has(instance(R"("m": 2, "tensors": [{"shape": [2, 3], "elements": 7}])"),
      "7 elements, but the shape has 6");
  has(instance(R"("m": 2, "tensors": [{"shape": [-2]}])"), "a size is -2, must be 0 or more");
  has(instance(R"("m": 2, "tensors": [{"shape": [4294967296, 4294967296]}])"), "more than 2^63 elements");
  has(instance(R"("m": 2, "tensors": [{"elements": 8, "block": 0}])"), "\"block\" is 0, must be 1 or more");
  has(instance(R"("m": 2, "tensors": [{"elements": 9000000000000000000}])"), "p.json:2:1: \"instance 1\"");
  has(instance(R"("m": 2, "m": 3, "tensors": [])"), "given twice");
}

TEST_CASE("plan: extreme problems are planned right or refused", "[app]") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "p.json";
  const auto planned = [&](const std::string& instance) {
    test::writeFile(file, "{\"instances\": [" + instance + "]}");
    auto plans = app::planProblems(file, {.align = 1});
    if (!plans) FAIL(core::text(plans.error()));
    return plans->front().found;
  };
  CHECK(planned(R"({"m": 1, "tensors": [{"elements": 7, "block": 100}]})").layout.shardElements == 7);
  CHECK(planned(R"({"m": 100, "tensors": [{"elements": 3}]})").layout.shardElements == 1);
  CHECK(planned(R"({"m": 100, "tensors": [{"elements": 0}, {"shape": [0, 4]}]})").layout.shardElements == 0);
  CHECK(planned(R"({"m": 2, "tensors": [{"elements": 10, "block": 4}]})").layout.shardElements == 6);
  CHECK(planned(R"({"m": 3, "tensors": []})").provenOptimal);
}
