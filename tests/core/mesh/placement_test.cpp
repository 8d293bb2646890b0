#include "core/mesh/placement.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "core/mesh/sharding.h"

using namespace vsim::core;
using Shape = std::vector<std::int64_t>;

namespace {

RaggedShard ragged(std::vector<int> dims, std::vector<std::int64_t> units) {
  auto placement = RaggedShard::make(std::move(dims), std::move(units));
  REQUIRE(placement);
  return *placement;
}

DeviceMesh mesh(std::vector<std::int64_t> sizes) {
  std::vector<MeshDim> dims;
  for (const std::int64_t size : sizes) dims.push_back({"m" + std::to_string(dims.size()), size});
  return *DeviceMesh::make(dims);
}

}  // namespace

TEST_CASE("placement: ragged placements are checked when made") {
  CHECK(RaggedShard::make({0, 1}, {1, 0, 2}));
  CHECK(RaggedShard::make({}, {0, 1}));
  CHECK(!RaggedShard::make({}, {1, 1}));
  CHECK(!RaggedShard::make({}, {0, 2}));
  CHECK(!RaggedShard::make({1}, {1, 1}));
  CHECK(!RaggedShard::make({1, 0}, {1, 1}));
  CHECK(!RaggedShard::make({0}, {}));
  CHECK(!RaggedShard::make({0}, {0, 0}));
  CHECK(!RaggedShard::make({0}, {3, -1}));
  const std::int64_t large = std::int64_t{1} << 62;
  CHECK(!RaggedShard::make({0}, {large, large}));
  CHECK(!makeStridedRaggedShard({0}, {1, 1}, 0));
  const Shape shape{6, 4};
  CHECK(ragged({0}, {1, 2}).check(shape));
  CHECK(!ragged({0}, {2, 2}).check(shape));
  CHECK(!ragged({0, 1, 2}, {1, 1}).check(shape));
  CHECK(text(Placement{ragged({0, 1}, {2, 1, 0})}) == "RaggedShard((0, 1), units 2:1:0)");
}

TEST_CASE("placement: intervals tile the tensor in rank order") {
  std::mt19937 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    Shape shape;
    for (std::size_t d = 0, n = 1 + random() % 3; d < n; ++d) shape.push_back(1 + random() % 9);
    const std::size_t ranks = 1 + random() % 6;
    std::vector<int> dims(1 + random() % shape.size());
    std::iota(dims.begin(), dims.end(), 0);
    const std::int64_t parts =
        std::accumulate(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(dims.size()),
                        std::int64_t{1}, std::multiplies<>{});
    std::vector<std::int64_t> units(ranks, 0);
    for (std::int64_t part = 0; part < parts; ++part) ++units[random() % ranks];
    const RaggedShard placement = ragged(dims, units);
    REQUIRE(placement.check(shape));
    const std::int64_t elements =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
    std::vector<Interval> runs;
    std::int64_t end = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      runs.push_back(placement.interval(shape, static_cast<std::int64_t>(rank)));
      CHECK(runs.back().begin == end);
      CHECK(runs.back().size() == units[rank] * (elements / parts));
      end = runs.back().end;
    }
    CHECK(end == elements);

    // The coarsest description of the same runs gives them back, and in no more dimensions.
    const auto again = RaggedShard::fromIntervals(shape, runs);
    REQUIRE(again);
    REQUIRE(again->check(shape));
    CHECK(again->dims().size() <= dims.size());
    for (std::size_t rank = 0; rank < ranks; ++rank)
      CHECK(again->interval(shape, static_cast<std::int64_t>(rank)).size() == runs[rank].size());
  }
}

TEST_CASE("placement: runs that do not cover the tensor are refused") {
  const Shape shape{4, 2};
  CHECK(!RaggedShard::fromIntervals(shape, std::vector<Interval>{{0, 4}, {5, 8}}));
  CHECK(!RaggedShard::fromIntervals(shape, std::vector<Interval>{{0, 4}, {4, 7}}));
  CHECK(!RaggedShard::fromIntervals(shape, std::vector<Interval>{{0, 9}, {9, 8}}));
  CHECK(!RaggedShard::fromIntervals(shape, std::vector<Interval>{}));
}

TEST_CASE("placement: sharding refuses what cannot be composed") {
  const RaggedShard half = ragged({0}, {1, 1});
  CHECK(Sharding::make(mesh({2, 2}), {8, 4}, {half, Shard{1}}));
  CHECK(Sharding::make(mesh({2, 2}), {8, 4}, {half, Shard{0}}));
  CHECK(Sharding::make(mesh({3, 2}), {8, 4}, {Replicate{}, half}));
  CHECK(!Sharding::make(mesh({2, 2}), {8, 4}, {half}));
  CHECK(!Sharding::make(mesh({2, 2}), {8, 4}, {half, half}));
  CHECK(!Sharding::make(mesh({2, 2}), {8, 4}, {Shard{1}, half}));
  CHECK(!Sharding::make(mesh({2, 2}), {8, 4}, {Partial{}, half}));
  CHECK(!Sharding::make(mesh({2, 2}), {8, 4}, {half, Shard{2}}));
  CHECK(!Sharding::make(mesh({2, 2}), {8, 4}, {half, Shard{-1}}));
  CHECK(!Sharding::make(mesh({3, 2}), {8, 4}, {half, Replicate{}}));
  CHECK(!Sharding::make(mesh({2, 2}), {8, 4}, {*makeStridedRaggedShard({0}, {1, 1}, 4), Shard{0}}));
  CHECK(!Sharding::make(mesh({2, 2}), {8, 4}, {*makeStridedRaggedShard({0}, {1, 1}, 2), Shard{1}}));
  CHECK(Sharding::make(mesh({2, 2}), {8, 4}, {*makeStridedRaggedShard({0}, {1, 1}, 2), Shard{0}}));
  // Uneven inner rows: 3 and 2, which two units do not both divide.
  CHECK(!Sharding::make(mesh({2, 2}), {5, 4}, {half, Shard{0}}));
  CHECK(!Sharding::make(mesh({1}), {-1}, {Replicate{}}));
}

TEST_CASE("placement: plain shards are chunks of the rounded-up size") {
  const auto sharding = Sharding::make(mesh({4}), {5, 3}, {Shard{0}});
  REQUIRE(sharding);
  const std::int64_t rows[] = {2, 2, 1, 0};
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    CHECK(sharding->localBlock(rank).size[0] == rows[rank]);
    CHECK(sharding->localShape(rank) == Shape{rows[rank], 3});
    CHECK(sharding->globalInterval(rank)->size() == rows[rank] * 3);
  }
  CHECK(!Sharding::make(mesh({3}), {4, 3}, {Shard{1}})->globalInterval(1));
}

TEST_CASE("placement: the block of a ragged cut holds whole runs of an inner shard") {
  CHECK(*blockWithInnerShard(Shape{4, 6}, 1, 2, 4) == 6);  // lcm(4, 6) = 12 of the global tensor
  CHECK(*blockWithInnerShard(Shape{4, 6}, 1, 3, 1) == 2);
  CHECK(*blockWithInnerShard(Shape{4, 6, 5}, 1, 2, 1) == 15);
  CHECK(*blockWithInnerShard(Shape{4, 6, 5}, 2, 5, 1) == 1);
  CHECK(!blockWithInnerShard(Shape{4, 6}, 0, 2, 4));
  CHECK(!blockWithInnerShard(Shape{4, 6}, 2, 2, 4));
  CHECK(!blockWithInnerShard(Shape{4, 6}, 1, 4, 4));
}
