#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/plan/fusion.h"
#include "tests/support/reference.h"

using namespace vsim::core;
using Json = nlohmann::json;

namespace {

/// "gptoss120/r128/m1024/2-layers" -> the layer's name, the group size and the layers; 0 for what says
/// neither.
struct Variant {
  std::string layer;
  std::int64_t layers = 0;
};
Variant variantOf(const std::string& name) {
  const std::size_t rows = name.find('/');
  const std::size_t end = name.find('/', rows + 1), last = name.rfind('/');
  if (name.find("per-expert") != std::string::npos || !name.ends_with("-layers")) return {};
  return {name.substr(0, end), std::stoll(name.substr(last + 1))};
}

}  // namespace

TEST_CASE("fusion: padding of several layers in one bucket, against the best known") {
  const auto large = vsim::test::referenceText("planner/planner_large.json");
  const auto variants = vsim::test::referenceText("planner/planner_variants.json");
  if (!large || !variants) return;
  const Json layers = Json::parse(*large), values = Json::parse(*variants);
  int cases = 0, best = 0;
  for (const Json& value : values["instances"]) {
    const Variant variant = variantOf(value["name"]);
    if (variant.layers == 0) continue;
    for (const Json& instance : layers["instances"]) {
      if (instance["name"] != variant.layer) continue;
      FusionProblem problem;
      problem.layers = variant.layers;
      LayoutProblem layer{
          .tensors = {}, .devices = value["m"], .unit = value["unit"], .align = value["align"]};
      for (const Json& t : instance["tensors"])
        layer.tensors.push_back(
            {t["name"], t["shape"], t["elements"].get<std::int64_t>(), t["block"].get<std::int64_t>()});
      problem.groups = {layer};
      const auto choice = chooseFusion(problem, {}, variant.layers);
      INFO(value["name"].get<std::string>());
      REQUIRE(choice);
      const FusionCandidate& c = choice->candidates[choice->chosen];
      REQUIRE(c.layersPerBucket == variant.layers);
      CHECK(c.shardElements >= value["lower_bound"].get<std::int64_t>());
      CHECK(c.shardElements <= value["default_S"].get<std::int64_t>());
      ++cases;
      best += c.shardElements <= value["S"].get<std::int64_t>() ? 1 : 0;
    }
  }
  WARN(cases << " buckets of several layers, " << best << " as small as the best known");
  CHECK(cases > 0);
  CHECK(best * 100 >= cases * 85);
}
