#include "core/plan/fusion.h"

#include <catch2/catch.hpp>

#include "core/plan/verifier.h"

using namespace vsim::core;

namespace {

LayoutProblem layer(std::int64_t block, std::int64_t devices) {
  return {.tensors = {{.name = "w", .shape = {1 << 20}, .elements = 1 << 20, .block = block}},
          .devices = devices};
}

FusionProblem fusion(const LayoutProblem& problem, std::int64_t layers) {
  FusionProblem result;
  result.groups = {problem};
  result.layers = layers;
  return result;
}

}  // namespace

TEST_CASE("fusion: layers without padding stay apart", "[plan]") {
  const auto choice = chooseFusion(fusion(layer(1, 64), 32));
  REQUIRE(choice);
  REQUIRE(choice->candidates.size() == 6);
  CHECK(choice->chosen == 0);
  CHECK(choice->reason.find("2 layers a bucket would have") == 0);
  for (const FusionCandidate& c : choice->candidates) {
    CHECK(c.buckets == 32 / c.layersPerBucket);
    CHECK(c.paddingRatio == 0);
    CHECK(c.provenOptimal);
    CHECK(c.shardElements == 32 * ((1 << 20) / 64));
    CHECK(c.gatheredElements == c.layersPerBucket << 20);
  }
  const FusionCandidate& one = choice->candidates[0];
  CHECK(one.shardBytes == 32.0 * (1 << 14) * 16);
  CHECK(one.bufferBytes == (2.0 * 2 + 2 * 4) * (1 << 20));
  CHECK(one.trafficBytes == 32.0 * 63 * (1 << 14) * (2 * 2 + 4));
  CHECK(one.exposedBytes == 63.0 * (1 << 14) * (2 + 4));
}

TEST_CASE("fusion: where blocks leave devices without work, buckets grow until all have some", "[plan]") {
  // Four blocks a layer on 16 devices: up to four layers a bucket cost nothing.
  const auto choice = chooseFusion(fusion(layer(1 << 18, 16), 8));
  REQUIRE(choice);
  CHECK(choice->candidates[choice->chosen].layersPerBucket == 4);
  CHECK(choice->candidates[choice->chosen].paddingRatio == 0);
  CHECK(choice->candidates[0].paddingRatio == 3.0);
  CHECK(choice->reason.find("padding 0.000 instead of 300.000 %") != std::string::npos);
}

TEST_CASE("fusion: the last bucket takes what is left; sizes that are asked for", "[plan]") {
  const auto choice = chooseFusion(fusion(layer(1 << 18, 16), 7), {}, 3);
  REQUIRE(choice);
  const FusionCandidate& c = choice->candidates[choice->chosen];
  CHECK(c.layersPerBucket == 3);
  CHECK(c.buckets == 3);
  CHECK(c.shardElements == 3 << 18);
  CHECK(c.paddingRatio == Approx(3.0 * 16 / 28 - 1));
  CHECK_FALSE(chooseFusion(fusion(layer(1, 4), 2), {}, 3));
  CHECK(chooseFusion(fusion(layer(1, 4), 1))->candidates.size() == 1);
}

TEST_CASE("fusion: groups of a layer are fused side by side", "[plan]") {
  FusionProblem problem = fusion(layer(1, 64), 4);
  problem.groups.push_back(layer(1, 8));
  const auto choice = chooseFusion(problem);
  REQUIRE(choice);
  CHECK(choice->candidates[0].gatheredElements == 2 << 20);
  CHECK(choice->candidates[0].shardElements == 4 * ((1 << 14) + (1 << 17)));
  const LayoutProblem fused = fusedProblem(problem.groups[0], 3);
  REQUIRE(fused.tensors.size() == 3);
  CHECK(fused.tensors[2].name == "2.w");
}
