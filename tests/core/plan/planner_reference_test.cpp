#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/plan/bounds.h"
#include "core/plan/planner.h"
#include "core/plan/verifier.h"
#include "tests/support/reference.h"

using namespace vsim::core;
using Json = nlohmann::json;

namespace {

LayoutProblem problemOf(const Json& instance, const Json& layoutCase) {
  LayoutProblem problem;
  problem.devices = layoutCase.contains("m") ? layoutCase["m"] : instance["m"];
  problem.unit = layoutCase["unit"];
  problem.align = layoutCase["align"];
  for (const Json& tensor : instance["tensors"])
    problem.tensors.push_back({tensor["name"], tensor["shape"], tensor["elements"].get<std::int64_t>(),
                               tensor["block"].get<std::int64_t>()});
  return problem;
}

struct Tightness {
  int cases = 0, optimal = 0, bound = 0;
};

void checkCase(const std::string& name, const LayoutProblem& problem, const Json& expected, Tightness& seen) {
  INFO(name << ", " << problem.devices << " devices, unit " << problem.unit);
  const auto layout = planGivenOrder(problem);
  REQUIRE(layout);
  CHECK(text(verifyLayout(problem, *layout)) == "");
  const std::int64_t best = expected["S"];
  if (expected.contains("default_S"))
    CHECK(layout->shardElements == expected["default_S"].get<std::int64_t>());
  if (expected.contains("default_starts"))
    CHECK(std::is_sorted(layout->offsets.begin(), layout->offsets.end()));
  CHECK(layout->lowerBound <= best);

  const auto bounds = lowerBounds(problem);
  REQUIRE(bounds);
  CHECK(bounds->blocks <= best);
  if (expected.contains("lower_bounds")) {
    CHECK(bounds->volume == expected["lower_bounds"]["volume"].get<std::int64_t>());
    CHECK(bounds->placeable == expected["lower_bounds"]["placeable"].get<std::int64_t>());
    CHECK(bounds->blocks >= bounds->placeable);
  }
  ++seen.cases;
  seen.optimal += layout->shardElements == best;
  seen.bound += bounds->blocks == best;

  // The published placement is a layout too, for the verifier as for everyone.
  if (expected.contains("starts") && expected["starts"].size() == problem.tensors.size()) {
    Layout published = *layout;
    published.shardElements = best;
    published.lowerBound = 0;
    published.offsets = expected["starts"].get<std::vector<std::int64_t>>();
    CHECK(text(verifyLayout(problem, published)) == "");
  }
}

void checkFile(const std::string& file) {
  const auto text = vsim::test::referenceText(file);
  if (!text) return;
  Tightness seen;
  const Json reference = Json::parse(*text);
  for (const Json& instance : reference["instances"])
    for (const Json& layoutCase : instance["cases"])
      checkCase(instance["name"], problemOf(instance, layoutCase), layoutCase, seen);
  CHECK(seen.cases > 0);
  WARN(fmt::format("{}: {} cases, given order optimal in {}, bound equal to the optimum in {}", file,
                   seen.cases, seen.optimal, seen.bound));
}

}  // namespace

TEST_CASE("planner: the given order reaches its exact optimum on all reference instances") {
  checkFile("planner/planner_optima.json");
}

TEST_CASE("planner: the given order reaches its exact optimum on whole layers") {
  checkFile("planner/planner_large.json");
}
