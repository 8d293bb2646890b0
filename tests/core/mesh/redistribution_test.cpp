#include "core/mesh/redistribution.h"

#include <catch2/catch.hpp>

#include "core/mesh/host_redistribution.h"
#include "tests/support/random_sharding.h"

using namespace vsim::core;
using vsim::test::elementsOf;
using vsim::test::meshOf;
using Shape = std::vector<std::int64_t>;
using Kind = RedistributionKind;
using Placements = std::vector<Placement>;

namespace {

RaggedShard ragged(std::vector<int> dims, Shape units) {
  auto placement = RaggedShard::make(std::move(dims), std::move(units));
  REQUIRE(placement);
  return *placement;
}

Sharding sharding(const Shape& mesh, const Shape& shape, Placements placements) {
  auto made = Sharding::make(meshOf(mesh), shape, std::move(placements));
  REQUIRE(made);
  return *made;
}

std::vector<Kind> kinds(const Redistribution& plan) {
  std::vector<Kind> result;
  for (const auto& step : plan.steps) result.push_back(step.kind);
  return result;
}

std::vector<Kind> kindsBetween(const Shape& mesh, const Shape& shape, const Placements& from,
                               const Placements& to) {
  const auto plan = planRedistribution(sharding(mesh, shape, from), sharding(mesh, shape, to));
  REQUIRE(plan);
  return kinds(*plan);
}

std::vector<std::int64_t> counting(const Shape& shape) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(elementsOf(shape)));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// What every rank holds of `values`, straight from the definition; a Partial splits them in known summands.
HostTensors<std::int64_t> expectedLocal(const Sharding& placed, const std::vector<std::int64_t>& values) {
  HostTensors<std::int64_t> local;
  const DeviceMesh& mesh = placed.mesh();
  for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    std::vector<std::int64_t> mine;
    for (const std::int64_t at : vsim::test::globalPositions(placed, rank)) {
      // Summands that add up to the value: c for every rank of coordinate c > 0, the rest on the first.
      std::int64_t value = values[static_cast<std::size_t>(at)];
      for (std::size_t i = 0; i < mesh.dims().size(); ++i) {
        if (!std::holds_alternative<Partial>(placed.placements()[i])) continue;
        const std::int64_t size = mesh.dims()[i].size, c = mesh.coordinate(rank, i);
        value = c == 0 ? value - 10 * size * (size - 1) / 2 : 10 * c;
      }
      mine.push_back(value);
    }
    local.push_back(std::move(mine));
  }
  return local;
}

// The value that a placement stands for, of its Partial dimensions summed.
std::vector<std::int64_t> meaning(const Sharding& placed, const HostTensors<std::int64_t>& local) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(elementsOf(placed.shape())), 0);
  for (std::int64_t rank = 0; rank < placed.mesh().ranks(); ++rank) {
    bool counts = true;
    for (std::size_t i = 0; i < placed.placements().size(); ++i)
      counts = counts && (!std::holds_alternative<Replicate>(placed.placements()[i]) ||
                          placed.mesh().coordinate(rank, i) == 0);
    const auto positions = vsim::test::globalPositions(placed, rank);
    for (std::size_t i = 0; counts && i < positions.size(); ++i)
      values[static_cast<std::size_t>(positions[i])] += local[static_cast<std::size_t>(rank)][i];
  }
  return values;
}

struct Traffic {
  std::int64_t sum = 0, send = 0, receive = 0;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};
Traffic trafficBetween(const Shape& shape, const RaggedShard& from, const RaggedShard& to) {
  const auto ranks = static_cast<std::int64_t>(from.units().size());
  const auto plan = planRedistribution(sharding({ranks}, shape, {from}), sharding({ranks}, shape, {to}));
  REQUIRE(plan);
  Traffic traffic;
  for (const RankVolume& volume : plan->volumes()) {
    traffic.sum += volume.send;
    traffic.send = std::max(traffic.send, volume.send);
    traffic.receive = std::max(traffic.receive, volume.receive);
  }
  return traffic;
}

}  // namespace

TEST_CASE("redistribution: volumes between ragged placements") {
  const Shape large{32, 128}, small{2, 64}, four{5, 3, 6, 7};
  const RaggedShard s1 = ragged({0}, {0, 1, 5, 2, 0, 0, 0, 0}),
                    s3 = ragged({0, 1}, {455, 1000, 2000, 641, 0, 0, 0, 0});
  CHECK(trafficBetween(small, ragged({0, 1}, {1, 1, 1, 1}), ragged({0, 1}, {21, 21, 22, 0})) ==
        Traffic{62, 32, 32});
  CHECK(trafficBetween(large, ragged({0}, Shape(8, 1)), ragged({0}, {0, 0, 0, 1, 0, 0, 0, 0})) ==
        Traffic{3584, 512, 3584});
  CHECK(trafficBetween(large, s1, s3) == Traffic{1781, 943, 943});
  CHECK(trafficBetween(small, ragged({0}, {1, 1, 0, 0}), ragged({0, 1}, {21, 21, 22, 0})) ==
        Traffic{66, 44, 44});
  CHECK(trafficBetween(four, ragged({0, 1}, {3, 7, 4, 1}), ragged({0, 1, 2}, {43, 23, 7, 17})) ==
        Traffic{294, 175, 175});
  CHECK(trafficBetween(four, ragged({0, 1}, {5, 3, 7, 0}), ragged({0, 1, 2, 3}, {17, 13, 31, 2})) ==
        Traffic{96, 40, 40});

  const auto plan = planRedistribution(sharding({8}, large, {s1}), sharding({8}, large, {s3}));
  std::vector<Shape> moves;
  for (const Transfer& t : plan->steps[0].transfers)
    moves.push_back({t.fromRank, t.toRank, t.copy.fromOffset, t.copy.toOffset, t.copy.elements});
  CHECK(moves == std::vector<Shape>{{1, 0, 0, 0, 455},
                                    {1, 1, 455, 0, 57},
                                    {2, 1, 0, 57, 943},
                                    {2, 2, 943, 0, 1617},
                                    {3, 2, 0, 1617, 383},
                                    {3, 3, 383, 0, 641}});

  const auto gather = planRedistribution(sharding({8}, large, {s1}), sharding({8}, large, {Replicate{}}));
  Shape receive;
  for (const RankVolume& volume : gather->volumes()) receive.push_back(volume.receive);
  CHECK(receive == Shape{4096, 3584, 1536, 3072, 4096, 4096, 4096, 4096});
}

TEST_CASE("redistribution: the collective of each change") {
  const Shape shape{12, 8};
  const Placement balanced = ragged({0}, {1, 1, 1, 1}), uneven = ragged({0}, {1, 5, 0, 6}),
                  owner = ragged({}, {0, 0, 1, 0}), first{Shard{0}}, second{Shard{1}}, whole{Replicate{}},
                  summands{Partial{}};
  const auto between = [&](const Placement& from, const Placement& to) {
    return kindsBetween({4}, shape, {from}, {to});
  };
  using Kinds = std::vector<Kind>;
  CHECK(between(uneven, whole) == Kinds{Kind::allGatherV});
  CHECK(between(balanced, whole) == Kinds{Kind::allGather});
  CHECK(between(whole, uneven) == Kinds{Kind::localSlice});
  CHECK(between(balanced, uneven) == Kinds{Kind::allToAllV});
  CHECK(between(balanced, owner) == Kinds{Kind::allToAllV});
  CHECK(between(balanced, ragged({0, 1}, {24, 24, 24, 24})) == Kinds{Kind::none});
  CHECK(between(balanced, balanced) == Kinds{});
  CHECK(between(uneven, first) == Kinds{Kind::allGatherV, Kind::localSlice});
  CHECK(between(uneven, summands) == Kinds{Kind::allGatherV, Kind::localPartial});
  CHECK(between(first, uneven) == Kinds{Kind::allGather, Kind::localSlice});
  CHECK(between(summands, uneven) == Kinds{Kind::reduceScatterV});
  CHECK(between(summands, balanced) == Kinds{Kind::reduceScatter});
  CHECK(between(summands, first) == Kinds{Kind::reduceScatter});
  CHECK(between(summands, whole) == Kinds{Kind::allReduce});
  CHECK(between(first, second) == Kinds{Kind::allToAll});
  CHECK(between(first, summands) == Kinds{Kind::allGather, Kind::localPartial});
  CHECK(kindsBetween({5}, shape, {Shard{0}}, {whole}) == Kinds{Kind::allGatherV});
  CHECK(kindsBetween({5}, shape, {Shard{0}}, {Shard{1}}) == Kinds{Kind::allToAllV});
  CHECK(kindsBetween({1}, shape, {Shard{0}}, {whole}) == Kinds{Kind::none});

  // Reduced straight to the intervals: every rank receives its own part of every other rank.
  const auto reduced = planRedistribution(sharding({4}, shape, {summands}), sharding({4}, shape, {uneven}));
  Shape receive;
  for (const RankVolume& volume : reduced->volumes()) receive.push_back(volume.receive);
  CHECK(receive == Shape{3 * 8, 3 * 40, 0, 3 * 48});
}

TEST_CASE("redistribution: several mesh dimensions, nested cuts inner first") {
  const Shape shape{8, 12};
  using Kinds = std::vector<Kind>;
  const Placement whole{Replicate{}}, rows{Shard{0}}, columns{Shard{1}};
  // Gather over FSDP first, then over the inner dimension.
  const Placement strided = *makeStridedRaggedShard({0}, {1, 2, 1}, 2);
  const auto plan =
      planRedistribution(sharding({3, 2}, shape, {strided, rows}), sharding({3, 2}, shape, {whole, whole}));
  REQUIRE(plan);
  CHECK(kinds(*plan) == Kinds{Kind::allGatherV, Kind::allGather});
  CHECK(plan->steps[0].meshDim == 0);
  CHECK(plan->steps[1].meshDim == 1);
  // Placing: the inner cut first.
  const auto back =
      planRedistribution(sharding({3, 2}, shape, {whole, whole}), sharding({3, 2}, shape, {strided, rows}));
  CHECK(kinds(*back) == Kinds{Kind::localSlice, Kind::localSlice});
  CHECK(back->steps[0].meshDim == 1);

  CHECK(kindsBetween({2, 2}, shape, {rows, rows}, {whole, rows}) ==
        Kinds{Kind::allGather, Kind::allGather, Kind::localSlice});
  CHECK(kindsBetween({2, 2}, shape, {rows, columns}, {columns, rows}) ==
        Kinds{Kind::allGather, Kind::allToAll, Kind::localSlice});
  CHECK(kindsBetween({2, 2}, shape, {whole, rows}, {columns, rows}) == Kinds{Kind::localSlice});
  CHECK(kindsBetween({2, 2}, shape, {Partial{}, Partial{}}, {whole, rows}) ==
        Kinds{Kind::reduceScatter, Kind::allReduce});
  // A strided record and a plain one say the same.
  CHECK(kindsBetween({3, 2}, shape, {strided, rows}, {ragged({0}, {1, 2, 1}), rows}) == Kinds{Kind::none});
  // A ragged placement that moves to another mesh dimension.
  CHECK(kindsBetween({2, 2}, shape, {ragged({0}, {3, 1}), whole}, {whole, ragged({0}, {1, 1})}) ==
        Kinds{Kind::allGatherV, Kind::localSlice});
}

TEST_CASE("redistribution: what cannot be compared or would mix cuts is refused") {
  const Placement a = ragged({0}, {1, 1}), b = ragged({0}, {1, 3}), whole{Replicate{}};
  const auto from = sharding({2, 2}, {8, 4}, {a, Shard{1}});
  CHECK_FALSE(planRedistribution(from, sharding({2, 1}, {8, 4}, {a, Shard{1}})));
  CHECK_FALSE(planRedistribution(from, sharding({2, 2}, {8, 8}, {a, Shard{1}})));
  const auto mixed = planRedistribution(from, sharding({2, 2}, {8, 4}, {b, whole}));
  REQUIRE_FALSE(mixed);
  CHECK(mixed.error().message ==
        "from RaggedShard((0), units 1:1) to RaggedShard((0), units 1:3) while mesh dimension 'm1' goes from "
        "Shard(1) to Replicate");
  CHECK(planRedistribution(from, sharding({2, 2}, {8, 4}, {b, Shard{1}})));
  CHECK_FALSE(planDistribution(from, 4));
  CHECK_FALSE(planDistribution(from, -1));
  const auto plan = planRedistribution(from, sharding({2, 2}, {8, 4}, {whole, whole}));
  CHECK_FALSE(redistribute(*plan, HostTensors<int>(4)));
  CHECK_FALSE(redistribute(*plan, HostTensors<int>(3)));
  CHECK_FALSE(distribute(from, std::vector<int>(31)));
}

TEST_CASE("redistribution: a source sends each rank its part") {
  const auto placed = sharding({4}, {2, 64}, {ragged({0, 1}, {21, 21, 22, 0})});
  const auto step = planDistribution(placed, 1);
  REQUIRE(step);
  CHECK(step->kind == Kind::sendReceive);
  CHECK(step->volumes == std::vector<RankVolume>{{0, 42}, {86, 0}, {0, 44}, {0, 0}});
  CHECK(step->transfers.size() == 3);
}

TEST_CASE("redistribution: between any two placements the value stays, in the promised form") {
  std::mt19937 random(4);
  int planned = 0, steps = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const auto mesh = vsim::test::randomMesh(random, 3, 4);
    const auto shape = vsim::test::randomShape(random, 3, 7);
    const auto values = counting(shape);
    const auto from = vsim::test::randomSharding(random, mesh, shape, vsim::test::Partials::allowed);
    const auto to = vsim::test::randomSharding(random, mesh, shape, vsim::test::Partials::allowed);
    const auto plan = planRedistribution(from, to);
    if (!plan) continue;  // ragged on one mesh dimension with other placements that differ
    ++planned;
    steps += static_cast<int>(plan->steps.size());
    const auto local = expectedLocal(from, values);
    const auto result = redistribute(*plan, local);
    REQUIRE(result);
    if (!plan->steps.empty()) {
      CHECK(plan->steps.front().from.placements() == from.placements());
      CHECK(plan->steps.back().to.placements() == to.placements());
    }
    bool partial = false;
    for (const Placement& placement : to.placements())
      partial = partial || std::holds_alternative<Partial>(placement);
    CHECK(meaning(to, *result) == meaning(from, local));
    if (!partial) {
      HostTensors<std::int64_t> expected;
      const auto whole = meaning(from, local);
      for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        expected.emplace_back();
        for (const std::int64_t at : vsim::test::globalPositions(to, rank))
          expected.back().push_back(whole[static_cast<std::size_t>(at)]);
      }
      CHECK(*result == expected);
    }
    const auto alone = planRedistribution(from, to, TransferDetail::volumesOnly);
    REQUIRE(alone);
    CHECK(alone->volumes() == plan->volumes());
    CHECK(kinds(*alone) == kinds(*plan));
    // Volumes conserve elements; without sums every element of a result comes exactly once.
    for (const RedistributionStep& step : plan->steps) {
      std::int64_t sent = 0, received = 0;
      for (const RankVolume& volume : step.volumes) {
        sent += volume.send;
        received += volume.receive;
        CHECK((communicates(step.kind) || volume == RankVolume{}));
      }
      CHECK(sent == received);
      Shape arriving(static_cast<std::size_t>(mesh.ranks()), 0);
      const std::int64_t summands = step.reduces() ? mesh.dims()[step.meshDim].size : 1;
      std::vector<RankVolume> counted(step.volumes.size());
      for (const Transfer& transfer : step.transfers) {
        const std::int64_t total = transfer.copy.total();
        arriving[static_cast<std::size_t>(transfer.toRank)] += total;
        if (transfer.fromRank == transfer.toRank) continue;
        counted[static_cast<std::size_t>(transfer.fromRank)].send += total;
        counted[static_cast<std::size_t>(transfer.toRank)].receive += total;
      }
      CHECK(counted == step.volumes);
      for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        if (step.kind == Kind::localPartial && mesh.coordinate(rank, step.meshDim) != 0) continue;
        CHECK(arriving[static_cast<std::size_t>(rank)] == summands * step.to.localInterval(rank).size());
      }
    }
    // There and back is the identity where no summand is made or lost.
    const auto back = planRedistribution(to, from);
    REQUIRE(back);
    const auto again = redistribute(*back, *result);
    REQUIRE(again);
    CHECK(meaning(from, *again) == meaning(from, local));
    bool fromPartial = false;
    for (const Placement& placement : from.placements())
      fromPartial = fromPartial || std::holds_alternative<Partial>(placement);
    if (!fromPartial) CHECK(*again == local);
  }
  CHECK(planned > 1000);
  CHECK(steps > planned);
}

TEST_CASE("redistribution: distribution gives every rank its positions") {
  std::mt19937 random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const auto mesh = vsim::test::randomMesh(random, 3, 4);
    const auto shape = vsim::test::randomShape(random, 4, 6);
    const auto placed = vsim::test::randomSharding(random, mesh, shape, vsim::test::Partials::none);
    const auto local = distribute(placed, counting(shape));
    REQUIRE(local);
    CHECK(*local == expectedLocal(placed, counting(shape)));
  }
}
