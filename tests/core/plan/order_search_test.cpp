#include "core/plan/order_search.h"

#include <catch2/catch.hpp>
#include <random>

#include "core/plan/planner.h"
#include "core/plan/verifier.h"
#include "tests/core/plan/tiny_problems.h"

using namespace vsim::core;
using namespace vsim::test;

namespace {

void add(LayoutProblem& problem, std::int64_t count, std::int64_t elements, std::int64_t block) {
  for (std::int64_t i = 0; i < count; ++i) problem.tensors.push_back(flat(elements, block));
}

// Few kinds, many of each: as the experts of a layer.
LayoutProblem manyAlike(std::mt19937& random) {
  const auto upTo = [&](unsigned n) { return 1 + static_cast<std::int64_t>(random() % n); };
  LayoutProblem problem{.devices = upTo(40), .align = 1 + static_cast<std::int64_t>(random() % 2) * 7};
  problem.unit = problem.align * upTo(3);
  const std::int64_t kinds = upTo(6);
  for (std::int64_t k = 0; k < kinds; ++k) {
    const std::int64_t rows = upTo(60), columns = upTo(200);
    add(problem, upTo(12), rows * columns, upTo(2) * columns);
  }
  add(problem, upTo(3), upTo(100), 1);
  std::shuffle(problem.tensors.begin(), problem.tensors.end(), random);
  return problem;
}

void checkSound(const LayoutProblem& problem, const SearchResult& found) {
  CHECK(text(verifyLayout(problem, found.layout)) == "");
  CHECK(found.provenOptimal == (found.layout.shardElements == found.layout.lowerBound));
}

}  // namespace

TEST_CASE("order search: equals a search over all orders and starts on tiny instances") {
  std::mt19937 random(11);
  for (int trial = 0; trial < 600; ++trial) {
    const LayoutProblem problem = randomProblem(random, 4, 16);
    const auto found = searchOrders(problem);
    REQUIRE(found);
    INFO("trial " << trial);
    checkSound(problem, *found);
    REQUIRE(found->layout.shardElements == exhaustiveOrders(problem));
    REQUIRE(found->provenOptimal);
  }
}

TEST_CASE("order search: never worse than the given order, with any budget") {
  std::mt19937 random(12);
  int better = 0, proven = 0;
  const int trials = 150;
  for (int trial = 0; trial < trials; ++trial) {
    const LayoutProblem problem = manyAlike(random);
    const auto given = planGivenOrder(problem);
    REQUIRE(given);
    INFO("trial " << trial);
    std::int64_t last = given->shardElements;
    for (const std::int64_t placements : {0, 1'000, 100'000, 2'000'000}) {
      const auto found = searchOrders(problem, {.placements = placements});
      REQUIRE(found);
      checkSound(problem, *found);
      CHECK(found->layout.shardElements <= given->shardElements);
      CHECK(found->layout.lowerBound >= given->lowerBound);
      if (found->order == "given") CHECK(found->layout.offsets == given->offsets);
      if (placements == 2'000'000) {
        better += found->layout.shardElements < last;
        proven += found->provenOptimal;
      }
    }
  }
  CHECK(better > trials / 10);
  CHECK(proven > trials / 2);
}

TEST_CASE("order search: bounds that a small budget proves hold for what a large one finds") {
  std::mt19937 random(13);
  for (int trial = 0; trial < 100; ++trial) {
    const LayoutProblem problem = manyAlike(random);
    const auto little = searchOrders(problem, {.placements = 50'000});
    const auto much = searchOrders(problem, {.placements = 3'000'000});
    INFO("trial " << trial);
    CHECK(little->layout.lowerBound <= much->layout.shardElements);
    CHECK(much->layout.lowerBound <= little->layout.shardElements);
  }
}

TEST_CASE("order search: small blocks cross boundaries that large ones cannot") {
  // Two shards of 12 hold 5 + 5 + 4 + 10 only when the tensor without blocks lies across the boundary.
  LayoutProblem problem{.devices = 2};
  add(problem, 1, 10, 1);
  for (const std::int64_t size : {5, 5, 4}) add(problem, 1, size, size);
  const auto found = searchOrders(problem);
  REQUIRE(found);
  CHECK(planGivenOrder(problem)->shardElements == 14);
  CHECK(found->layout.shardElements == 12);
  CHECK(found->provenOptimal);
  CHECK(found->order != "given");
  CHECK(text(verifyLayout(problem, found->layout)) == "");
}

TEST_CASE("order search: the same twice, and by names that differ") {
  std::mt19937 random(14);
  std::vector<LayoutProblem> problems;
  for (int i = 0; i < 8; ++i) problems.push_back(manyAlike(random));
  for (int i = 0; i < 8; ++i) {
    problems.push_back(problems[static_cast<std::size_t>(i)]);
    problems.back().tensors.front().name = "other";
  }
  const SearchOptions options{.placements = 200'000};
  const auto once = searchAll(problems, options), twice = searchAll(problems, options);
  REQUIRE(once);
  REQUIRE(once->size() == problems.size());
  std::int64_t tried = 0;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const SearchResult &a = (*once)[i], &b = (*twice)[i];
    CHECK(a.layout.offsets == b.layout.offsets);
    CHECK(a.layout.shardElements == b.layout.shardElements);
    CHECK(a.order == b.order);
    CHECK(a.placementsTried == b.placementsTried);
    checkSound(problems[i], a);
    tried += a.placementsTried;
    if (i >= 8) {
      CHECK(a.placementsTried == 0);
      CHECK(a.layout.offsets == (*once)[i - 8].layout.offsets);
    }
  }
  // Overshoot: a pass over the tensors here and there.
  CHECK(tried < options.placements + 20'000);
  problems.back().devices = 0;
  CHECK(!searchAll(problems, options));
  CHECK(searchAll({}, options)->empty());
}

TEST_CASE("order search: a clock ends it early with a sound answer") {
  std::mt19937 random(15);
  for (int trial = 0; trial < 20; ++trial) {
    const LayoutProblem problem = manyAlike(random);
    int asked = 0;
    const auto found =
        searchOrders(problem, {.placements = INT64_MAX, .expired = [&] { return ++asked > 3; }});
    REQUIRE(found);
    checkSound(problem, *found);
    CHECK(asked <= 4);
  }
}
