#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "tests/support/run_process.h"

namespace vsim::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kProblems = R"({"instances": [
  {"name": "one", "m": 2, "tensors": [{"name": "w", "shape": [10, 8], "elements": 80, "block": 8}]},
  {"name": "two", "tensors": [{"name": "a", "elements": 24}, {"name": "b", "elements": 40, "block": 8}],
   "cases": [{"m": 2}, {"m": 4}]}]})";

class Plan {
 public:
  Plan() { test::writeFile(file("problems.json"), kProblems); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / name; }
  test::ProcessResult operator()(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "plan");
    return test::runProcess(VSIM_EXECUTABLE, arguments, {"XDG_DATA_HOME=" + (folder_ / "data")});
  }

 private:
  test::TemporaryFolder folder_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> result;
  for (const auto& [key, value] : object.items()) result.push_back(key);
  return result;
}

}  // namespace

TEST_CASE("plan: problems to JSON on standard output") {
  const Plan plan;
  const auto result = plan({"--problems", plan.file("problems.json"), "--align", "8", "--json", "-"});
  REQUIRE(result.exitCode == kDone);
  CHECK(result.err.empty());
  const Json json = Json::parse(result.out);
  CHECK(keys(json) == std::vector<std::string>{"plans"});
  REQUIRE(json["plans"].size() == 3);
  for (const Json& each : json["plans"])
    CHECK(keys(each) == std::vector<std::string>{"devices", "lower_bound_elements", "name", "planning_time_s",
                                                 "proven_optimal", "shard_elements", "tensors"});
  CHECK(json["plans"][0]["name"] == "one");
  CHECK(json["plans"][0]["shard_elements"] == 40);
  CHECK(json["plans"][0]["tensors"] == Json::parse(R"([{"name": "w", "offset_elements": 0}])"));
  CHECK(json["plans"][1]["devices"] == 2);
  CHECK(json["plans"][2]["devices"] == 4);
  CHECK(json["plans"][2]["shard_elements"] == 16);
  CHECK(json["plans"][2]["proven_optimal"] == true);
}

TEST_CASE("plan: a budget in time is recorded") {
  const Plan plan;
  const auto result =
      plan({"--problems", plan.file("problems.json"), "--budget", "50", "--json", plan.file("out.json")});
  CHECK(result.exitCode == kDone);
  CHECK(contains(result.out, "search budget 50 ms"));
  CHECK(contains(result.out, "3 of 3 proven optimal"));
  CHECK(Json::parse(test::readFile(plan.file("out.json")))["budget_ms"] == 50.0);
}

TEST_CASE("plan: a scenario to JSON") {
  const Plan plan;
  const auto result = plan({"tiny", "--order", "given", "--json", "-"});
  REQUIRE(result.exitCode == kDone);
  const Json json = Json::parse(result.out);
  CHECK(keys(json) == std::vector<std::string>{"plans", "scenario"});
  CHECK(json["scenario"] == "tiny");
  REQUIRE(json["plans"].size() == 2);
  for (const Json& each : json["plans"]) {
    CHECK(keys(each) == std::vector<std::string>{"buckets", "devices", "padding_ratio", "planning_time_s",
                                                 "system", "total_elements"});
    REQUIRE(each["buckets"].size() == 4);
    CHECK(keys(each["buckets"][1]) == std::vector<std::string>{"gap_ratio", "lower_bound_elements", "name",
                                                               "shard_elements", "tensors", "unit_elements"});
    CHECK(keys(each["buckets"][1]["tensors"][0]) ==
          std::vector<std::string>{"block_elements", "elements", "name", "offset_elements", "shape"});
  }
}

TEST_CASE("plan: tables of group sizes, systems and fused layers") {
  const Plan plan;
  const auto sizes = plan({"tiny", "--group-sizes", "2..8"});
  CHECK(sizes.exitCode == kDone);
  CHECK(contains(sizes.out, "group size"));
  const auto systems = plan({"tiny", "--systems", "vescale,deepspeed"});
  CHECK(systems.exitCode == kDone);
  CHECK(contains(systems.out, "deepspeed"));
  const auto presets = plan({"--presets", "llama-3-8b", "--systems", "all", "--group-sizes", "64,96"});
  CHECK(presets.exitCode == kDone);
  CHECK(contains(presets.out, "tensors with a block that lies on two devices"));
  const auto fused = plan({"tiny", "--fuse", "auto"});
  CHECK(fused.exitCode == kDone);
  CHECK(contains(fused.out, "<-"));
  CHECK(plan({"tiny", "--fuse", "3"}).exitCode == kDone);
}

TEST_CASE("plan: mistakes end with exit code 2 and one clear line") {
  const Plan plan;
  test::writeFile(plan.file("cut.json"), std::string(kProblems).substr(0, 100));
  test::writeFile(plan.file("garbage.json"), std::string(100'000, '\xff'));
  test::writeFile(plan.file("deep.json"), std::string(100'000, '['));
  test::writeFile(plan.file("wrong.json"), R"({"instances": [{"m": true, "tensors": []}]})");
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
      {{}, "which scenario?"},
      {{"tiny", "--problems", "x"}, "exclude each other"},
      {{"--problems", plan.file("nowhere.json")}, "no such file"},
      {{"--problems", plan.file("")}, "no such file"},
      {{"--problems", plan.file("cut.json")}, "cut.json:2:"},
      {{"--problems", plan.file("garbage.json")}, "garbage.json:1:1: malformed JSON"},
      {{"--problems", plan.file("deep.json")}, "deep.json:1:201: nested deeper than 200 levels"},
      {{"--problems", plan.file("wrong.json")}, "wrong.json:1:22: \"m\" must be a number, not true or false"},
      {{"--problems", plan.file("problems.json"), "--fuse", "2"}, "--problems goes with"},
      {{"tiny", "--order", "best"}, "order"},
      {{"tiny", "--budget", "0"}, "budget"},
      {{"tiny", "--budget", "5", "--order", "given"}, "nothing to search"},
      {{"tiny", "--align", "0"}, "align"},
      {{"tiny", "--group-sizes", "8..4"}, "is no group size"},
      {{"tiny", "--systems", "zero"}, "unknown system"},
      {{"tiny", "--fuse", "some"}, "neither auto nor a number"},
      {{"tiny", "--fuse", "2", "--systems", "all"}, "exclude each other"},
      {{"tiny", "--rows", "2"}, "goes with --presets"},
      {{"--presets", "llama-9"}, "llama-9"},
      {{"--presets", "llama-3-8b", "--set", "a=b"}, "--set needs a scenario"},
  };
  for (const auto& [arguments, message] : mistakes) {
    const auto result = plan(arguments);
    INFO(message << ": " << result.err);
    CHECK(result.exitCode == kWrongInput);
    CHECK(result.out.empty());
    CHECK(contains(result.err, message));
    CHECK(result.err.size() < 2000);
  }
}

}  // namespace vsim::cli
