#include "core/plan/megatron_layout.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "core/plan/first_at_most.h"
#include "core/plan/verifier.h"
#include "tests/core/plan/sample_layers.h"

using namespace vsim::core;
using vsim::test::tensorOf;
using vsim::test::Tensors;

namespace {

std::int64_t rowOf(const PlanTensor& tensor) { return tensor.elements / tensor.shape[0]; }

/// The first version's rules one after the other, with a look at every tensor wherever one is sought.
struct Literal {
  std::int64_t chunk = 0, total = 0;
  std::vector<std::int64_t> offsets;

  Literal(const Tensors& tensors, std::int64_t devices) : offsets(tensors.size(), -1) {
    std::vector<std::size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return rowOf(tensors[a]) > rowOf(tensors[b]); });
    chunk = rowOf(tensors[order[0]]);
    for (const auto i : order) {
      const std::int64_t n = tensors[i].elements, row = rowOf(tensors[i]);
      if (row == chunk || (chunk % row == 0 && n % chunk == 0) || n < chunk) continue;
      chunk = std::lcm(chunk, row);
    }
    std::int64_t x = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::int64_t n = tensors[order[k]].elements;
      if (offsets[order[k]] >= 0 || n < chunk) continue;
      offsets[order[k]] = x;
      x += n;
      if (n % chunk == 0) continue;
      std::int64_t boundary = x + chunk - n % chunk, gapEnd = boundary, next = boundary;
      for (std::size_t l = k + 1; l < order.size(); ++l) {
        const std::int64_t m = tensors[order[l]].elements;
        if (offsets[order[l]] >= 0 || m < chunk || m % chunk == 0 || n % chunk + m % chunk > chunk) continue;
        gapEnd = offsets[order[l]] = boundary - m % chunk;
        next = boundary + m / chunk * chunk;
        break;
      }
      for (const auto i : order)
        if (offsets[i] < 0 && tensors[i].elements < chunk && x + tensors[i].elements <= gapEnd) {
          offsets[i] = x;
          x += tensors[i].elements;
        }
      x = next;
    }
    for (const auto i : order)
      if (offsets[i] < 0) {
        offsets[i] = x;
        x += tensors[i].elements;
      }
    total = (x + devices * chunk - 1) / (devices * chunk) * (devices * chunk);
  }
};

}  // namespace

TEST_CASE("megatron layout: agrees with its rules taken literally on random buckets") {
  std::mt19937 random(5);
  int partners = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    LayoutProblem problem{.devices = 1 + static_cast<std::int64_t>(random() % 7)};
    for (std::size_t i = 0, n = 1 + random() % 12; i < n; ++i) {
      const auto rows = 1 + static_cast<std::int64_t>(random() % 9);
      const auto row = 1 + static_cast<std::int64_t>(random() % (trial % 2 == 0 ? 4 : 12));
      problem.tensors.push_back(
          tensorOf("t", row == 1 ? vsim::test::Shape{rows} : vsim::test::Shape{rows, row}));
    }
    INFO("trial " << trial);
    const Literal literal(problem.tensors, problem.devices);
    const auto layout = megatronLayout(problem);
    REQUIRE(layout);
    REQUIRE(*megatronChunk(problem.tensors) == literal.chunk);
    REQUIRE(layout->offsets == literal.offsets);
    REQUIRE(layout->totalElements() == literal.total);
    for (std::size_t i = 0; i < problem.tensors.size(); ++i)
      partners += problem.tensors[i].elements >= literal.chunk && layout->offsets[i] % literal.chunk != 0;
  }
  CHECK(partners > 500);
}

TEST_CASE("megatron layout: partner and fragments in a gap") {
  const LayoutProblem problem{.tensors = vsim::test::megatronLayers().at("check_P0_P4"), .devices = 5};
  const auto layout = megatronLayout(problem);
  REQUIRE(layout);
  CHECK(*megatronChunk(problem.tensors) == 12);
  CHECK(layout->offsets == std::vector<std::int64_t>{0, 12, 32, 28, 48});
  CHECK(layout->shardElements == 12);
  CHECK(layout->contiguous);
}

TEST_CASE("megatron layout: rows of fragments are cut in the first version only") {
  const LayoutProblem problem{
      .tensors = {tensorOf("a", {2, 12}), tensorOf("b", {2, 5}), tensorOf("c", {2, 5})}, .devices = 4};
  const auto v1 = megatronLayout(problem), v2 = megatronV2Layout(problem);
  REQUIRE(v1);
  REQUIRE(v2);
  CHECK(v1->shardElements == 12);
  LayoutProblem wholeRows = megatronPromise(problem);
  for (PlanTensor& tensor : wholeRows.tensors) tensor.block = rowOf(tensor);
  CHECK(verifyLayout(megatronPromise(problem), *v1).empty());
  CHECK(!verifyLayout(wholeRows, *v1).empty());
  CHECK(*megatronV2Chunk(problem.tensors) == 60);
  CHECK(verifyLayout(megatronV2Promise(problem), *v2).empty());
}

TEST_CASE("megatron layout: the second version takes the largest fragments first") {
  const LayoutProblem problem{.tensors = {tensorOf("a", {4, 4}), tensorOf("b", {2}), tensorOf("c", {3})},
                              .devices = 3};
  CHECK(megatronLayout(problem)->offsets == std::vector<std::int64_t>{0, 16, 18});
  CHECK(megatronV2Layout(problem)->offsets == std::vector<std::int64_t>{0, 19, 16});
}

TEST_CASE("megatron layout: a shard of broken chunks breaks the promise") {
  const LayoutProblem problem{.tensors = vsim::test::paddingLayers().at("toy"), .devices = 4};
  Layout layout = *megatronLayout(problem);
  REQUIRE(verifyLayout(megatronPromise(problem), layout).empty());
  layout.shardElements = 22;
  CHECK(!verifyLayout(megatronPromise(problem), layout).empty());
}

TEST_CASE("megatron layout: chunks that would overflow are refused") {
  // Row sizes without a common factor, each tensor larger than the chunk factor so far.
  LayoutProblem problem{.tensors = {tensorOf("a", {1 << 20, 1'000'003}), tensorOf("b", {1 << 20, 1'000'033}),
                                    tensorOf("c", {1 << 22, 1'000'037}), tensorOf("d", {1 << 22, 1'000'039})},
                        .devices = 2};
  CHECK(megatronChunk(problem.tensors));
  CHECK(!megatronV2Chunk(problem.tensors));
  CHECK(!megatronV2Layout(problem));
  const PlanTensor wide{
      .name = "wide", .shape = {0, std::int64_t{1} << 40, std::int64_t{1} << 40}, .elements = 0};
  CHECK(!megatronLayout({.tensors = {wide}, .devices = 2}));
  CHECK(!megatronLayout({.tensors = {tensorOf("t", {2, 1 << 20})}, .devices = std::int64_t{1} << 45}));
}

TEST_CASE("megatron layout: many tensors of uneven sizes") {
  std::mt19937 random(9);
  LayoutProblem problem{.devices = 64};
  for (int i = 0; i < 200'000; ++i)
    problem.tensors.push_back(tensorOf(
        "t", {1 + static_cast<std::int64_t>(random() % 50), 1 + static_cast<std::int64_t>(random() % 4)}));
  const auto layout = megatronLayout(problem);
  REQUIRE(layout);
  CHECK(text(verifyLayout(megatronPromise(problem), *layout)) == "");
  CHECK(layout->paddingRatio() < 0.01);
}

TEST_CASE("megatron layout: buckets by experts and size") {
  const Tensors tensors = {tensorOf("mlp.experts.0.up", {4, 2}), tensorOf("mlp.gate", {4}),
                           tensorOf("mlp.shared_experts.up", {4, 2}), tensorOf("mlp.experts.1.up", {4, 2})};
  using Buckets = std::vector<std::vector<std::size_t>>;
  CHECK(megatronBuckets(tensors) == Buckets{{0, 3}, {1, 2}});
  CHECK(megatronBuckets(tensors, 8) == Buckets{{0}, {3}, {1, 2}});
  CHECK(megatronBuckets(tensors, 9) == Buckets{{0, 3}, {1, 2}});
  CHECK(megatronBuckets({}, 9).empty());
  CHECK(megatronTrainerBucketElements(8) == 40'000'000);
  CHECK(megatronTrainerBucketElements(1024) == 1'024'000'000);
}

TEST_CASE("first at most: agrees with a look at every number") {
  std::mt19937 random(2);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<std::int64_t> values;
    for (std::size_t i = 0, n = random() % 20; i < n; ++i)
      values.push_back(static_cast<std::int64_t>(random() % 10));
    FirstAtMost search(values);
    for (int step = 0; step < 40; ++step) {
      const std::size_t from = random() % 22;
      const auto limit = static_cast<std::int64_t>(random() % 10);
      std::optional<std::size_t> expected;
      for (std::size_t i = from; i < values.size() && !expected; ++i)
        if (values[i] <= limit) expected = i;
      REQUIRE(search.find(from, limit) == expected);
      if (!expected) continue;
      values[*expected] = 1000;
      search.remove(*expected);
    }
  }
}
