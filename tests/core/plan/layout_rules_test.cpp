#include "core/plan/layout_rules.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "core/plan/megatron_layout.h"
#include "core/plan/verifier.h"
#include "tests/core/plan/sample_layers.h"

using namespace vsim::core;
using vsim::test::Shape;
using vsim::test::tensorOf;

namespace {

LayoutProblem randomProblem(std::mt19937& random) {
  LayoutProblem problem{.devices = 1 + static_cast<std::int64_t>(random() % 9)};
  problem.elementBytes = std::int64_t{1} << (random() % 4);
  for (std::size_t i = 0, n = random() % 8; i < n; ++i) {
    Shape shape;
    for (std::size_t dim = 0, dims = 1 + random() % 3; dim < dims; ++dim)
      shape.push_back(static_cast<std::int64_t>(random() % (dim == 0 ? 12 : 6)) + (random() % 20 != 0));
    PlanTensor tensor = tensorOf("t" + std::to_string(i), std::move(shape));
    tensor.block = 1 + static_cast<std::int64_t>(random() % 4);
    problem.tensors.push_back(std::move(tensor));
  }
  return problem;
}

/// Elements that rank `rank` holds in its part of the buffer, counted one by one.
std::int64_t heldBy(std::int64_t rank, const LayoutProblem& promise, const Layout& layout) {
  std::int64_t held = 0;
  for (std::size_t i = 0; i < promise.tensors.size(); ++i)
    for (std::int64_t e = 0; e < promise.tensors[i].elements; ++e)
      held += (layout.offsets[i] + e) / layout.shardElements == rank;
  return held;
}

}  // namespace

TEST_CASE("layout rules: names are unique, known by name, and described") {
  std::set<std::string_view> names;
  for (const LayoutRule& rule : layoutRules()) {
    CHECK(names.insert(rule.name).second);
    CHECK(layoutRule(rule.name) == &rule);
    CHECK(!rule.description.empty());
  }
  for (const char* name : {"vescale", "fsdp2", "fsdp1", "fsdp1-unaligned", "deepspeed", "megatron"})
    CHECK(names.count(name) == 1);
  CHECK(layoutRules().front().name == "vescale");
  CHECK(layoutRule("zero") == nullptr);
}

TEST_CASE("layout rules: every system's layout keeps its promise on random buckets") {
  std::mt19937 random(11);
  for (int trial = 0; trial < 3000; ++trial) {
    const LayoutProblem problem = randomProblem(random);
    for (const LayoutRule& rule : layoutRules()) {
      INFO("trial " << trial << ", " << rule.name);
      const auto layout = rule.layout(problem);
      REQUIRE(layout);
      const LayoutProblem promise = rule.promise(problem);
      REQUIRE(text(verifyLayout(promise, *layout)) == "");
      CHECK(layout->totalElements() >= layout->unitElements);
      CHECK(layout->paddingRatio() >= 0);
      CHECK(layout->shardElements >= layout->lowerBound);
      if (!layout->contiguous || layout->shardElements == 0) continue;
      std::int64_t held = 0;
      for (std::int64_t rank = 0; rank < problem.devices; ++rank) held += heldBy(rank, promise, *layout);
      CHECK(held == layout->unitElements);
    }
  }
}

TEST_CASE("layout rules: buckets hold every tensor once") {
  const auto layer = vsim::test::megatronLayers().at("deepseek_v3_layer");
  for (const LayoutRule& rule : layoutRules()) {
    INFO(rule.name);
    std::vector<int> seen(layer.size(), 0);
    const auto buckets = rule.buckets(layer);
    for (const auto& bucket : buckets)
      for (const std::size_t i : bucket) ++seen[i];
    CHECK(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
    CHECK(buckets.size() == (rule.name.starts_with("megatron") ? 2U : 1U));
    CHECK(rule.buckets({}).empty());
  }
}

TEST_CASE("layout rules: nothing, one device, more devices than elements") {
  const LayoutProblem problems[] = {{.devices = 5},
                                    {.tensors = {tensorOf("empty", {0, 7})}, .devices = 5},
                                    {.tensors = {tensorOf("t", {7, 3}), tensorOf("u", {5})}},
                                    {.tensors = {tensorOf("t", {2, 3})}, .devices = 1'000'000'007}};
  for (const LayoutProblem& problem : problems)
    for (const LayoutRule& rule : layoutRules()) {
      INFO(rule.name << " on " << problem.devices);
      const auto layout = rule.layout(problem);
      REQUIRE(layout);
      CHECK(text(verifyLayout(rule.promise(problem), *layout)) == "");
      if (problem.tensors.empty()) CHECK(layout->shardElements == 0);
    }
}

TEST_CASE("layout rules: sizes that cannot be laid out are refused, never overflowing") {
  constexpr std::int64_t kHuge = std::int64_t{1} << 60;
  const PlanTensor small = tensorOf("small", {3, 5});
  const PlanTensor huge{.name = "huge", .shape = {kHuge - 2}, .elements = kHuge - 2};
  const LayoutProblem refused[] = {
      {.tensors = {small}, .devices = 0},
      {.tensors = {small}, .devices = -3},
      {.tensors = {huge, huge}, .devices = 2},
      {.tensors = {small, small, small, small, small}, .devices = kHuge},
      {.tensors = {{.name = "wrong", .shape = {3, 5}, .elements = 14}}, .devices = 2},
      {.tensors = {{.name = "negative", .shape = {-3}, .elements = -3}}, .devices = 2}};
  for (const LayoutRule& rule : layoutRules()) {
    INFO(rule.name);
    for (std::size_t i = 0; i < std::size(refused); ++i) {
      INFO("problem " << i);
      const auto layout = rule.layout(refused[i]);
      // Five tensors of three rows: RaggedShard and FSDP1 put them on a few of 2^60 devices.
      if (i == 3 && layout)
        CHECK(text(verifyLayout(rule.promise(refused[i]), *layout)) == "");
      else
        CHECK(!layout);
    }
    const auto one = rule.layout({.tensors = {huge}, .devices = 3});
    REQUIRE(one);
    CHECK(text(verifyLayout(rule.promise({.tensors = {huge}, .devices = 3}), *one)) == "");
  }
  CHECK(!layoutRule("fsdp1")->layout({.tensors = {small}, .devices = 2, .elementBytes = 32}));
  CHECK(!layoutRule("fsdp1")->layout({.tensors = {small}, .devices = 2, .elementBytes = 0}));
  CHECK(!layoutRule("fsdp2")->layout({.tensors = {huge, small, small}, .devices = kHuge}));
  CHECK(!layoutRule("deepspeed")->layout({.tensors = {huge, small, small, small}, .devices = kHuge}));
}
