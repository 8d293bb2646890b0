#include "core/plan/bucket_plans.h"

#include <catch2/catch.hpp>

#include "core/plan/planner.h"
#include "core/plan/verifier.h"

using namespace vsim::core;

namespace {

/// Blocks that no order packs at the lower bound, and many kinds, so that the search has something to do.
LayoutProblem hardProblem(std::int64_t devices) {
  LayoutProblem problem{.tensors = {}, .devices = devices, .unit = 8, .align = 8};
  for (std::int64_t i = 0; i < 40; ++i) {
    const std::int64_t rows = 17 + 5 * (i % 7), columns = 48 + 16 * (i % 5);
    problem.tensors.push_back({.name = "t" + std::to_string(i),
                               .shape = {rows, columns},
                               .elements = rows * columns,
                               .block = columns * (1 + i % 4)});
  }
  return problem;
}

}  // namespace

TEST_CASE("bucket plans: those of the search over all problems", "[plan]") {
  const std::vector<LayoutProblem> problems{hardProblem(12), hardProblem(31), hardProblem(12),
                                            hardProblem(64)};
  for (const std::int64_t placements : {std::int64_t{0}, std::int64_t{20'000}, std::int64_t{400'000}}) {
    const auto plans = planBuckets(problems, {.placements = placements});
    const auto searched = searchAll(problems, {.placements = placements});
    REQUIRE(plans);
    REQUIRE(searched);
    REQUIRE(plans->size() == problems.size());
    for (std::size_t i = 0; i < problems.size(); ++i) {
      CHECK((*plans)[i].found.layout.offsets == (*searched)[i].layout.offsets);
      CHECK((*plans)[i].found.layout.lowerBound == (*searched)[i].layout.lowerBound);
      CHECK((*plans)[i].found.order == (*searched)[i].order);
      CHECK((*plans)[i].seconds == 0);
      CHECK(verifyLayout(problems[i], (*plans)[i].found.layout).empty());
    }
    CHECK((*plans)[2].found.placementsTried == 0);
    CHECK((*plans)[2].found.layout.offsets == (*plans)[0].found.layout.offsets);
  }
}

TEST_CASE("bucket plans: the given order", "[plan]") {
  const LayoutProblem problem = hardProblem(31);
  const auto plans = planBuckets({&problem, 1}, {.searchOrder = false});
  REQUIRE(plans);
  CHECK(plans->front().found.order == "given");
  CHECK(plans->front().found.layout.offsets == planGivenOrder(problem)->offsets);
}

TEST_CASE("bucket plans: a budget in time is shared and ends the search", "[plan]") {
  const std::vector<LayoutProblem> problems{hardProblem(12), hardProblem(31), hardProblem(64)};
  double time = 0;
  const auto plans = planBuckets(problems, {.seconds = 1.0, .now = [&time] { return time += 0.01; }});
  REQUIRE(plans);
  double spent = 0;
  for (const BucketPlan& plan : *plans) {
    spent += plan.seconds;
    CHECK(plan.seconds > 0);
  }
  CHECK(spent < 1.5);
}

TEST_CASE("bucket plans: the first problem that cannot be planned is the error", "[plan]") {
  std::vector<LayoutProblem> problems{hardProblem(12), hardProblem(12)};
  problems[1].tensors[3].shape = {1};
  CHECK_FALSE(planBuckets(problems));
  problems[1] = hardProblem(0);
  CHECK_FALSE(planBuckets(problems));
  CHECK(planBuckets({})->empty());
}
