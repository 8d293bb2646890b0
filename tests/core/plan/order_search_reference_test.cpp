#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "core/plan/order_search.h"
#include "core/plan/verifier.h"
#include "tests/support/reference.h"

using namespace vsim::core;
using Json = nlohmann::json;

namespace {

// About two seconds on a core of 2020 and later, all spent in the exact program.
constexpr std::int64_t kTwoSeconds = 250'000'000;

std::vector<PlanTensor> tensorsOf(const Json& instance) {
  std::vector<PlanTensor> tensors;
  for (const Json& tensor : instance["tensors"])
    tensors.push_back({tensor["name"], tensor["shape"], tensor["elements"].get<std::int64_t>(),
                       tensor["block"].get<std::int64_t>()});
  return tensors;
}

LayoutProblem problemOf(const Json& instance, const Json& layoutCase) {
  return {.tensors = tensorsOf(instance),
          .devices = layoutCase.contains("m") ? layoutCase["m"] : instance["m"],
          .unit = layoutCase["unit"],
          .align = layoutCase["align"]};
}

struct Score {
  int cases = 0, optimal = 0, proven = 0;
  double worst = 1;  // shard over the best known one
  std::int64_t mostPlacements = 0;

  void add(const std::string& name, const LayoutProblem& problem, const Json& best, std::int64_t placements) {
    INFO(name << ", " << problem.devices << " devices, unit " << problem.unit);
    const auto found = searchOrders(problem, {.placements = placements});
    REQUIRE(found);
    CHECK(text(verifyLayout(problem, found->layout)) == "");
    const std::int64_t size = best["S"], shard = found->layout.shardElements;
    CHECK(found->layout.lowerBound <= size);
    if (best["exact"]) CHECK(shard >= size);
    if (best.contains("default_S")) CHECK(shard <= best["default_S"].get<std::int64_t>());
    CHECK(found->provenOptimal == (shard == found->layout.lowerBound));
    ++cases;
    optimal += shard <= size;
    proven += found->provenOptimal;
    worst = std::max(worst, static_cast<double>(shard) / static_cast<double>(size));
    mostPlacements = std::max(mostPlacements, found->placementsTried);
  }
  void print(const std::string& what) const {
    WARN(fmt::format(
        "{}: {} cases, optimal in {}, proven in {}, at most {:.5f} of the optimum, {:.2f} M placements "
        "at most",
        what, cases, optimal, proven, worst, static_cast<double>(mostPlacements) / 1e6));
  }
};

double shareOf(int part, int all) { return static_cast<double>(part) / all; }

Score searchFile(const std::string& file, std::int64_t placements) {
  Score score;
  const auto text = vsim::test::referenceText(file);
  if (!text) return score;
  const Json reference = Json::parse(*text);
  for (const Json& instance : reference["instances"])
    for (const Json& layoutCase : instance["cases"])
      score.add(instance["name"], problemOf(instance, layoutCase), layoutCase, placements);
  score.print(file);
  return score;
}

/// Variants are named after a layer of planner_large.json and what was done to it:
/// "layer/rows/mM[/per-expert]
/// [/K-layers]".
LayoutProblem variantOf(const std::map<std::string, Json>& layers, const Json& variant) {
  const std::string name = variant["name"];
  LayoutProblem problem{.devices = variant["m"], .unit = variant["unit"], .align = variant["align"]};
  const std::size_t slash = name.find('/', name.find('/') + 1);
  std::vector<PlanTensor> layer;
  for (PlanTensor& tensor : tensorsOf(layers.at(name.substr(0, slash)))) {
    if (name.find("per-expert") == std::string::npos || tensor.shape.size() != 3) {
      layer.push_back(std::move(tensor));
      continue;
    }
    const std::int64_t experts = tensor.shape.front();
    tensor.shape.erase(tensor.shape.begin());
    tensor.elements /= experts;
    layer.insert(layer.end(), static_cast<std::size_t>(experts), tensor);
  }
  const std::size_t layersAt = name.find("-layers");
  const int copies =
      layersAt == std::string::npos ? 1 : std::stoi(name.substr(name.rfind('/', layersAt) + 1));
  for (int i = 0; i < copies; ++i) problem.tensors.insert(problem.tensors.end(), layer.begin(), layer.end());
  REQUIRE(problem.tensors.size() == variant["n"].get<std::size_t>());
  return problem;
}

double paddingPercent(const Json& instance, std::int64_t devices, int copies, std::int64_t placements) {
  LayoutProblem problem{.devices = devices, .unit = 8, .align = 8};
  const auto layer = tensorsOf(instance);
  for (int i = 0; i < copies; ++i) problem.tensors.insert(problem.tensors.end(), layer.begin(), layer.end());
  const auto found = searchOrders(problem, {.placements = placements});
  REQUIRE(found);
  CHECK(text(verifyLayout(problem, found->layout)) == "");
  CHECK(found->provenOptimal);
  return 100 * found->layout.paddingRatio();
}

std::map<std::string, Json> largeLayers() {
  std::map<std::string, Json> layers;
  const auto text = vsim::test::referenceText("planner/planner_large.json");
  if (!text) return layers;
  const Json reference = Json::parse(*text);
  for (const Json& instance : reference["instances"]) layers[instance["name"]] = instance;
  return layers;
}

}  // namespace

TEST_CASE("order search: reference instances with known optima") {
  const Score score = searchFile("planner/planner_optima.json", SearchOptions{}.placements);
  if (score.cases == 0) return;
  CHECK(shareOf(score.optimal, score.cases) >= 0.97);
  CHECK(score.worst <= 1.02);
  CHECK(shareOf(score.proven, score.cases) >= 0.97);
}

TEST_CASE("order search: whole layers with the default budget") {
  const Score score = searchFile("planner/planner_large.json", SearchOptions{}.placements);
  if (score.cases == 0) return;
  CHECK(shareOf(score.optimal, score.cases) >= 66.0 / 72);
  CHECK(shareOf(score.proven, score.cases) >= 54.0 / 72);
}

TEST_CASE("order search: whole layers with two seconds each") {
  const Score score = searchFile("planner/planner_large.json", kTwoSeconds);
  if (score.cases == 0) return;
  CHECK(shareOf(score.optimal, score.cases) >= 70.0 / 72);
  CHECK(shareOf(score.proven, score.cases) >= 66.0 / 72);
}

TEST_CASE("order search: several layers in a bucket, one tensor per expert") {
  const auto layers = largeLayers();
  const auto text = vsim::test::referenceText("planner/planner_variants.json");
  if (layers.empty() || !text) return;
  Score score;
  const Json reference = Json::parse(*text);
  for (const Json& variant : reference["instances"])
    score.add(variant["name"], variantOf(layers, variant), variant, SearchOptions{}.placements);
  score.print("planner/planner_variants.json");
  CHECK(shareOf(score.optimal, score.cases) >= 50.0 / 53);
  CHECK(shareOf(score.proven, score.cases) >= 44.0 / 53);
}

TEST_CASE("order search: padding of a DeepSeek-V3 and a GPT-OSS-120B layer, proven optimal by default") {
  const auto layers = largeLayers();
  if (layers.empty()) return;
  struct Expected {
    const char* layer;
    std::int64_t devices;
    int layersInBucket;
    double percent;
  };
  const Expected expected[] = {
      {"deepseek/r1", 512, 1, 0.0164},   {"deepseek/r16", 512, 1, 0.308},   {"deepseek/r128", 512, 1, 2.641},
      {"deepseek/r1", 1024, 1, 0.162},   {"deepseek/r16", 1024, 1, 4.973},  {"deepseek/r128", 1024, 1, 11.97},
      {"gptoss120/r1", 512, 1, 0.0455},  {"gptoss120/r16", 512, 1, 1.330},  {"gptoss120/r128", 512, 1, 5.736},
      {"gptoss120/r16", 1024, 2, 1.330}, {"gptoss120/r128", 1024, 2, 5.736}};
  for (const Expected& row : expected) {
    INFO(row.layer << ", " << row.devices << " devices, " << row.layersInBucket << " layers");
    CHECK(paddingPercent(layers.at(row.layer), row.devices, row.layersInBucket, SearchOptions{}.placements) ==
          Approx(row.percent).epsilon(0.003));
  }
}
