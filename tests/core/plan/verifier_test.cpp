#include "core/plan/verifier.h"

#include <catch2/catch.hpp>
#include <random>

#include "core/plan/fsdp2_layout.h"
#include "core/plan/planner.h"

using namespace vsim::core;

namespace {

PlanTensor matrix(std::int64_t rows, std::int64_t columns, std::int64_t blockRows) {
  return {.name = "m", .shape = {rows, columns}, .elements = rows * columns, .block = blockRows * columns};
}

// Whether a layout is valid, element by element.
bool literallyValid(const LayoutProblem& problem, const Layout& layout) {
  const std::int64_t shard = layout.shardElements, total = shard * layout.devices;
  if (layout.devices != problem.devices || shard % problem.unit != 0) return false;
  std::vector<int> taken(static_cast<std::size_t>(std::max<std::int64_t>(total, 0)), 0);
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const std::int64_t start = layout.offsets[i];
    if (start < 0 || start % problem.align != 0 || start + problem.tensors[i].elements > total) return false;
    for (std::int64_t e = 0; e < problem.tensors[i].elements; ++e) {
      if (taken[static_cast<std::size_t>(start + e)]++) return false;
      if (e > 0 && (start + e) % shard == 0 && e % problem.tensors[i].block != 0) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("verifier: agrees with an element-wise check on mutated layouts") {
  std::mt19937 random(6);
  int rejected = 0, accepted = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    LayoutProblem problem;
    problem.devices = 1 + static_cast<std::int64_t>(random() % 6);
    problem.align = 1 + static_cast<std::int64_t>(random() % 2);
    problem.unit = problem.align * (1 + static_cast<std::int64_t>(random() % 2));
    for (std::size_t i = 0, n = 1 + random() % 5; i < n; ++i)
      problem.tensors.push_back(matrix(1 + random() % 6, 1 + random() % 5, 1 + random() % 3));
    auto layout = planGivenOrder(problem);
    REQUIRE(layout);
    REQUIRE(verifyLayout(problem, *layout).empty());
    layout->lowerBound = 0;
    const std::int64_t change = static_cast<std::int64_t>(random() % 7) - 3;
    if (random() % 3 == 0)
      layout->shardElements = std::max<std::int64_t>(layout->shardElements + change, 1);
    else
      layout->offsets[random() % layout->offsets.size()] += change;
    INFO("trial " << trial);
    const bool valid = literallyValid(problem, *layout);
    REQUIRE(verifyLayout(problem, *layout).empty() == valid);
    ++(valid ? accepted : rejected);
  }
  CHECK(rejected > 500);
  CHECK(accepted > 500);
}

TEST_CASE("verifier: counts and bounds that do not fit the problem") {
  const LayoutProblem problem{
      .tensors = {matrix(8, 4, 1), matrix(3, 4, 1)}, .devices = 4, .unit = 4, .align = 4};
  const Layout good = *planGivenOrder(problem);
  REQUIRE(verifyLayout(problem, good).empty());
  const auto refused = [&](auto change) {
    Layout layout = good;
    change(layout);
    return !verifyLayout(problem, layout).empty();
  };
  CHECK(refused([](Layout& l) { l.devices = 3; }));
  CHECK(refused([](Layout& l) { l.offsets.pop_back(); }));
  CHECK(refused([](Layout& l) { l.unitElements += 1; }));
  CHECK(refused([](Layout& l) { l.lowerBound = l.shardElements + 1; }));
  CHECK(refused([](Layout& l) { l.shardElements = -4; }));
  CHECK(refused([](Layout& l) { l.shardElements = 0; }));
  CHECK(refused([](Layout& l) { l.offsets[0] = -4; }));
  CHECK(refused([](Layout& l) { l.offsets[0] = std::int64_t{1} << 62; }));
  CHECK(refused([](Layout& l) { l.shardElements = std::int64_t{1} << 61; }));
  CHECK(refused([](Layout& l) { l.offsets[1] = l.offsets[0]; }));
}

TEST_CASE("verifier: per-parameter slots") {
  const LayoutProblem problem{.tensors = {matrix(8, 4, 1), matrix(3, 5, 1)}, .devices = 4};
  Layout layout = *fsdp2Layout(problem);
  CHECK(layout.shardElements == 13);
  CHECK(!layout.contiguous);
  CHECK(verifyLayout(problem, layout).empty());
  Layout overlapping = layout;
  overlapping.offsets[1] = 7;
  CHECK(!verifyLayout(problem, overlapping).empty());
  Layout outside = layout;
  outside.offsets[1] = 9;
  CHECK(!verifyLayout(problem, outside).empty());
}
