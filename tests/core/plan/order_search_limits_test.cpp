#include <catch2/catch.hpp>

#include "core/plan/order_search.h"
#include "core/plan/planner.h"
#include "core/plan/verifier.h"
#include "tests/core/plan/tiny_problems.h"

// Sizes and counts that no model has, but files may.

using namespace vsim::core;
using namespace vsim::test;

namespace {

constexpr std::int64_t kLarge = std::int64_t{1} << 59;

SearchResult search(const LayoutProblem& problem) {
  const auto found = searchOrders(problem);
  REQUIRE(found);
  CHECK(text(verifyLayout(problem, found->layout)) == "");
  return *found;
}

}  // namespace

TEST_CASE("order search limits: nothing to place, and tensors without elements") {
  const auto none = search({.devices = 8, .unit = 8, .align = 8});
  CHECK(none.layout.shardElements == 0);
  CHECK(none.provenOptimal);
  CHECK(search({.tensors = {flat(0, 4), flat(0, 1)}, .devices = 3}).layout.shardElements == 0);
  const auto some =
      search({.tensors = {flat(0, 4), flat(7, 7), flat(0, 1), flat(6, 1), flat(7, 5)}, .devices = 2});
  CHECK(some.layout.shardElements == 10);
}

TEST_CASE(
    "order search limits: blocks larger than tensors, short last blocks, one device, more devices than "
    "elements") {
  CHECK(search({.tensors = {flat(5, 100), flat(3, 100), flat(4, 100), flat(4, 100)}, .devices = 2})
            .layout.shardElements == 8);
  CHECK(search({.tensors = {flat(10, 4), flat(10, 4), flat(7, 3)}, .devices = 1}).layout.shardElements == 27);
  CHECK(search({.tensors = {flat(10, 4), flat(7, 3)}, .devices = 1000}).layout.shardElements == 4);
  CHECK(search({.tensors = {flat(10, 1), flat(7, 1)}, .devices = 1'000'000}).layout.shardElements == 1);
}

TEST_CASE("order search limits: one tensor larger than everything else") {
  LayoutProblem problem{.tensors = {flat(kLarge, kLarge)}, .devices = 4};
  for (int i = 0; i < 30; ++i) problem.tensors.push_back(flat(1000 + i, 7));
  const auto found = search(problem);
  CHECK(found.layout.shardElements == kLarge);
  CHECK(found.provenOptimal);
}

TEST_CASE("order search limits: huge problems end in an error or a plan, not in an overflow") {
  CHECK(!searchOrders({.tensors = {flat(kLarge, 1), flat(kLarge, 1), flat(kLarge, 1)}, .devices = 8}));
  CHECK(!searchOrders({.tensors = {flat(INT64_MAX, 1)}, .devices = 8}));
  CHECK(
      !searchOrders({.tensors = {flat(INT64_MAX - 7, 8), flat(9, 1)}, .devices = 8, .unit = 8, .align = 8}));
  CHECK(!searchOrders({.tensors = {flat(kLarge, kLarge)}, .devices = 100'000}));
  CHECK(!searchOrders({.tensors = {flat(4, 1)}, .devices = INT64_MAX}));
  CHECK(!searchOrders({.tensors = {flat(4, 1)}, .devices = 0}));
  search({.tensors = {flat(4, INT64_MAX), flat(9, INT64_MAX - 1)}, .devices = 3});
  search({.tensors = {flat(kLarge, 1), flat(kLarge / 3, 5), flat(1, 1)}, .devices = 3});
  // Blocks whose lcm exceeds 64 bits.
  LayoutProblem problem{.devices = 3};
  for (const std::int64_t prime : {2'147'483'647, 2'147'483'629, 2'147'483'587}) {
    problem.tensors.push_back(flat(prime * 5, prime));
    problem.tensors.push_back(flat(prime * 2 - 1, prime - 1));
  }
  search(problem);
}

TEST_CASE("order search limits: a million tensors, alike or all different") {
  LayoutProblem alike{.devices = 1024, .unit = 8, .align = 8}, different = alike;
  for (std::int64_t i = 0; i < 1'000'000; ++i) {
    alike.tensors.push_back(flat(i % 3 == 0 ? 96 * 64 : 128 * 64, i % 3 == 0 ? 96 : 128));
    different.tensors.push_back(flat(1000 + i, 1 + i % 997));
  }
  CHECK(search(alike).layout.gapRatio() < 0.001);
  CHECK(search(different).layout.gapRatio() < 0.001);
}

TEST_CASE("order search limits: hundreds of large tensors with blocks that have no common divisor") {
  LayoutProblem problem{.devices = 256};
  std::vector<std::int64_t> primes;
  for (std::int64_t n = 2; primes.size() < 200; ++n)
    if (std::none_of(primes.begin(), primes.end(), [&](std::int64_t p) { return n % p == 0; }))
      primes.push_back(n);
  for (std::size_t i = 0; i < primes.size(); ++i)
    problem.tensors.push_back(flat(10'000'000 + 37 * static_cast<std::int64_t>(i), primes[i]));
  search(problem);
}
