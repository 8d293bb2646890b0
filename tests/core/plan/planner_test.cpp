#include "core/plan/planner.h"

#include <catch2/catch.hpp>
#include <optional>
#include <random>

#include "core/plan/bounds.h"
#include "core/plan/verifier.h"
#include "tests/core/plan/tiny_problems.h"

using namespace vsim::core;
using namespace vsim::test;

TEST_CASE("planner: equals an exhaustive search on tiny instances") {
  std::mt19937 random(3);
  for (int trial = 0; trial < 3000; ++trial) {
    const LayoutProblem problem = randomProblem(random, 4, 14);
    const auto layout = planGivenOrder(problem);
    REQUIRE(layout);
    INFO("trial " << trial);
    REQUIRE(layout->shardElements == exhaustive(problem));
    REQUIRE(text(verifyLayout(problem, *layout)) == "");
    REQUIRE(std::is_sorted(layout->offsets.begin(), layout->offsets.end()));
  }
}

TEST_CASE("planner: the lower bound holds for every order") {
  std::mt19937 random(4);
  int equal = 0, trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    const LayoutProblem problem = randomProblem(random, 4, 16);
    const std::int64_t best = exhaustiveOrders(problem);
    const auto layout = planGivenOrder(problem);
    const auto bounds = lowerBounds(problem);
    const auto capped = lowerBounds(problem, layout->shardElements);
    INFO("trial " << trial);
    REQUIRE(layout->lowerBound <= best);
    REQUIRE(bounds->volume <= bounds->placeable);
    REQUIRE(bounds->placeable <= bounds->blocks);
    REQUIRE(bounds->blocks <= best);
    REQUIRE(capped->blocks == layout->lowerBound);
    equal += bounds->blocks == best;
  }
  CHECK(equal > trials / 2);
}

TEST_CASE("planner: a tensor longer than a shard may start inside the next one") {
  // S = 5 holds 8 elements in blocks of 3 only from offset 2: a head of 3 and a rest of 5. Starting at the
  // boundary would need a whole shard of 5.
  const LayoutProblem problem{.tensors = {flat(8, 3)}, .devices = 2};
  CHECK(planGivenOrder(problem)->shardElements == 5);
}

TEST_CASE("planner: shapes, padding and gap of the toy layer") {
  LayoutProblem problem{.tensors = {{.name = "w", .shape = {10, 6}, .elements = 60, .block = 6},
                                    {.name = "b", .shape = {10}, .elements = 10},
                                    {.name = "n", .shape = {7}, .elements = 7}},
                        .devices = 4};
  const auto layout = planGivenOrder(problem);
  REQUIRE(layout);
  CHECK(layout->shardElements == 24);
  CHECK(layout->unitElements == 77);
  CHECK(layout->totalElements() == 96);
  CHECK(layout->paddingRatio() == Approx(19.0 / 77));
  CHECK(layout->lowerBound == 24);
  CHECK(layout->gapRatio() == 0);
}

TEST_CASE("planner: empty units and tensors without elements") {
  const auto none = planGivenOrder({.devices = 8, .unit = 8, .align = 8});
  REQUIRE(none);
  CHECK(none->shardElements == 0);
  CHECK(none->paddingRatio() == 0);
  CHECK(none->gapRatio() == 0);
  const LayoutProblem problem{.tensors = {flat(0, 4), flat(5, 1), flat(0, 1)}, .devices = 2, .unit = 2};
  const auto layout = planGivenOrder(problem);
  REQUIRE(layout);
  CHECK(layout->shardElements == 4);
  CHECK(text(verifyLayout(problem, *layout)) == "");
}

TEST_CASE("planner: huge and impossible problems end in an error, not in an overflow") {
  const std::int64_t large = std::int64_t{1} << 59;
  CHECK(!planGivenOrder({.tensors = {flat(large, 1), flat(large, 1), flat(large, 1)}, .devices = 8}));
  CHECK(!planGivenOrder({.tensors = {flat(large, large)}, .devices = 100'000}));
  CHECK(planGivenOrder({.tensors = {flat(large, 1)}, .devices = 100'000}));
  CHECK(!planGivenOrder({.tensors = {flat(4, 0)}, .devices = 2}));
  CHECK(!planGivenOrder({.tensors = {flat(4, 1)}, .devices = 0}));
  CHECK(!planGivenOrder({.tensors = {flat(4, 1)}, .devices = 2, .unit = 0}));
  CHECK(!planGivenOrder({.tensors = {flat(4, 1)}, .devices = 2, .unit = 6, .align = 4}));
  CHECK(!planGivenOrder({.tensors = {{.name = "t", .shape = {2, 3}, .elements = 5}}, .devices = 2}));
  CHECK(!planGivenOrder({.tensors = {{.name = "t", .shape = {-2}, .elements = -2}}, .devices = 2}));
  // Blocks whose lcm exceeds 64 bits are no obstacle.
  const std::int64_t primes[] = {2'147'483'647, 2'147'483'629, 2'147'483'587};
  LayoutProblem problem{.devices = 3};
  for (const std::int64_t prime : primes) problem.tensors.push_back(flat(prime * 5, prime));
  const auto layout = planGivenOrder(problem);
  REQUIRE(layout);
  CHECK(text(verifyLayout(problem, *layout)) == "");
}

TEST_CASE("planner: equal problems are planned alike, whatever their names") {
  std::mt19937 random(5);
  std::vector<LayoutProblem> problems;
  for (int i = 0; i < 12; ++i) problems.push_back(randomProblem(random, 6, 200));
  for (int i = 0; i < 12; ++i) {
    problems.push_back(problems[static_cast<std::size_t>(i)]);
    problems.back().tensors.front().name = "other";
  }
  const auto layouts = planAll(problems);
  REQUIRE(layouts);
  REQUIRE(layouts->size() == problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const auto alone = planGivenOrder(problems[i]);
    CHECK((*layouts)[i].shardElements == alone->shardElements);
    CHECK((*layouts)[i].offsets == alone->offsets);
    CHECK(text(verifyLayout(problems[i], (*layouts)[i])) == "");
  }
  problems.back().devices = 0;
  CHECK(!planAll(problems));
}
