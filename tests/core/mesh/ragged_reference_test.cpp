#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <numeric>

#include "core/mesh/host_redistribution.h"
#include "core/mesh/norm.h"
#include "tests/support/reference.h"

using namespace vsim::core;
using Json = nlohmann::json;

namespace {

DeviceMesh meshOf(const Json& sizes) {
  std::vector<MeshDim> dims;
  for (const std::int64_t size : sizes) dims.push_back({"m" + std::to_string(dims.size()), size});
  return *DeviceMesh::make(dims);
}

Result<Placement> placementOf(const Json& json) {
  const std::string kind = json["kind"];
  if (kind == "replicate") return Replicate{};
  if (kind == "shard") return Shard{json["dim"].get<int>()};
  const auto dims = json["dims"].get<std::vector<int>>();
  const auto units = json["units"].get<std::vector<std::int64_t>>();
  if (kind == "strided_ragged")
    return makeStridedRaggedShard(dims, units, json["split_factor"].get<std::int64_t>());
  return RaggedShard::make(dims, units);
}

Interval intervalOf(const Json& json) { return {json[0].get<std::int64_t>(), json[1].get<std::int64_t>()}; }

Sharding shardingOf(const Json& expected) {
  std::vector<Placement> placements;
  for (const Json& one : expected["placements"]) {
    const auto placement = placementOf(one);
    REQUIRE(placement);
    placements.push_back(*placement);
  }
  const auto sharding = Sharding::make(meshOf(expected["mesh"]), expected["shape"], std::move(placements));
  REQUIRE(sharding);
  return *sharding;
}

// Coordinates of a rank as the reference counts them: ragged rank f, inner rank e.
struct ReferenceRank {
  std::size_t f = 0, e = 0;
};
ReferenceRank referenceRank(const Json& expected, const Sharding& sharding, std::int64_t rank) {
  const auto coordinates = sharding.mesh().coordinates(rank);
  const Json& inner = expected["inner_mesh_dim"];
  return {static_cast<std::size_t>(coordinates[expected["ragged_mesh_dim"].get<std::size_t>()]),
          inner.is_null() ? 0 : static_cast<std::size_t>(coordinates[inner.get<std::size_t>()])};
}

std::vector<double> arange(const Sharding& sharding) {
  std::int64_t elements = 1;
  for (const std::int64_t size : sharding.shape()) elements *= size;
  std::vector<double> values(static_cast<std::size_t>(elements));
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

HostTensors<double> distributed(const Sharding& sharding) {
  auto local = distribute(sharding, arange(sharding));
  REQUIRE(local);
  return std::move(*local);
}

Sharding withPlacement(const Sharding& sharding, std::size_t meshDim, const Placement& placement) {
  auto placements = sharding.placements();
  placements[meshDim] = placement;
  const auto changed = Sharding::make(sharding.mesh(), sharding.shape(), placements);
  REQUIRE(changed);
  return *changed;
}

void checkSlices(const Json& expected) {
  const Sharding made = shardingOf(expected);
  const Sharding* sharding = &made;
  const auto raggedDim = expected["ragged_mesh_dim"].get<std::size_t>();
  CHECK(sharding->raggedDim() == raggedDim);
  const bool hasGlobal = expected.contains("global_intervals") && !expected["global_intervals"].is_null();
  for (std::int64_t rank = 0; rank < sharding->mesh().ranks(); ++rank) {
    INFO("rank " << rank);
    const auto [f, e] = referenceRank(expected, *sharding, rank);
    const TensorBlock block = sharding->localBlock(rank);
    CHECK(block.offset == expected["local_blocks"][e]["offset"].get<std::vector<std::int64_t>>());
    CHECK(block.size == expected["local_blocks"][e]["size"].get<std::vector<std::int64_t>>());
    const Interval local = sharding->localInterval(rank);
    CHECK(local == intervalOf(expected["intervals"][f][e]));
    CHECK(sharding->localShape(rank) == std::vector<std::int64_t>{local.size()});
    CHECK(block.elements() - local.size() == expected["gather_receive"][f][e].get<std::int64_t>());
    if (hasGlobal) CHECK(sharding->globalInterval(rank) == intervalOf(expected["global_intervals"][f][e]));
  }
}

void checkBoxes(const Json& expected) {
  const Sharding sharding = shardingOf(expected);
  std::vector<TensorBlock> all;
  for (std::int64_t rank = 0; rank < sharding.mesh().ranks(); ++rank) {
    INFO("rank " << rank);
    const auto [f, e] = referenceRank(expected, sharding, rank);
    const Json& boxes = expected["boxes"][f][e];
    const std::vector<TensorBlock> made = checkpointBoxes(sharding, rank);
    REQUIRE(made.size() == boxes.size());
    for (std::size_t b = 0; b < made.size(); ++b) {
      CHECK(made[b].size == boxes[b]["size"].get<std::vector<std::int64_t>>());
      CHECK(made[b].offset == boxes[b]["offset"].get<std::vector<std::int64_t>>());
    }
    // Replicas on the mesh dimensions before the ragged one list the same.
    if (rank <
        sharding.mesh().ranks() / (expected["ragged_mesh_dim"] == 1 ? expected["mesh"][0].get<int>() : 1))
      all.insert(all.end(), made.begin(), made.end());
  }
  CHECK(tile(sharding.shape(), all));
}

// Elements that ragged rank i of the group of `rank` holds before and rank j after.
std::vector<std::vector<std::int64_t>> volumeMatrix(const RedistributionStep& step, std::int64_t rank) {
  const CommGroup group = step.from.mesh().group(step.meshDim);
  const auto size = static_cast<std::size_t>(group.size);
  std::vector<std::vector<std::int64_t>> matrix(size, std::vector<std::int64_t>(size, 0));
  for (const Transfer& transfer : step.transfers)
    if (groupBase(group, transfer.toRank) == groupBase(group, rank))
      matrix[static_cast<std::size_t>(indexInGroup(group, transfer.fromRank))]
            [static_cast<std::size_t>(indexInGroup(group, transfer.toRank))] += transfer.copy.total();
  return matrix;
}

void checkTraffic(const Json& expected, const RedistributionStep& step, std::int64_t rank) {
  const auto volumes = step.volumes;
  std::int64_t sum = 0;
  RankVolume most;
  for (const std::int64_t member : groupRanks(step.from.mesh().group(step.meshDim), rank)) {
    const RankVolume& volume = volumes[static_cast<std::size_t>(member)];
    sum += volume.send;
    most.send = std::max(most.send, volume.send);
    most.receive = std::max(most.receive, volume.receive);
  }
  CHECK(sum == expected["off_diagonal"].get<std::int64_t>());
  CHECK(most.send == expected["max_send"].get<std::int64_t>());
  CHECK(most.receive == expected["max_recv"].get<std::int64_t>());
}

void checkRedistributions(const Json& expected) {
  const Sharding from = shardingOf(expected);
  const auto raggedDim = *from.raggedDim();
  const auto local = distributed(from);
  for (const Json& one : expected["redistribute"]) {
    INFO("to " << one["to"].dump());
    const auto ragged = RaggedShard::make(one["to"]["dims"], one["to"]["units"]);
    REQUIRE(ragged);
    Placement wanted = *ragged;
    if (const auto* strided = std::get_if<StridedRaggedShard>(&from.placements()[raggedDim]))
      wanted = StridedRaggedShard{*ragged, strided->splitFactor};
    const Sharding to = withPlacement(from, raggedDim, wanted);
    const auto plan = planRedistribution(from, to);
    REQUIRE(plan);
    CHECK(plan->steps.size() <= 1);
    if (plan->steps.empty()) continue;  // the same placement
    const RedistributionStep& step = plan->steps[0];
    CHECK((step.kind == RedistributionKind::allToAllV || step.kind == RedistributionKind::none));
    for (std::int64_t rank = 0; rank < from.mesh().ranks(); ++rank) {
      const auto e = referenceRank(expected, from, rank).e;
      CHECK(volumeMatrix(step, rank) == one["M"][e].get<std::vector<std::vector<std::int64_t>>>());
      checkTraffic(one["traffic"][e], step, rank);
    }
    CHECK(redistribute(*plan, local).value() == distributed(to));
  }
}

void checkGathers(const Json& expected) {
  const Sharding from = shardingOf(expected);
  const Sharding to = withPlacement(from, *from.raggedDim(), Replicate{});
  const auto local = distributed(from), gathered = distributed(to);
  const auto gather = planRedistribution(from, to), slice = planRedistribution(to, from);
  REQUIRE(gather);
  REQUIRE(slice);
  CHECK(gather->collectives() == (from.mesh().dims()[*from.raggedDim()].size > 1 ? 1 : 0));
  CHECK(slice->collectives() == 0);
  const auto volumes = gather->volumes();
  for (std::int64_t rank = 0; rank < from.mesh().ranks(); ++rank) {
    const auto [f, e] = referenceRank(expected, from, rank);
    CHECK(volumes[static_cast<std::size_t>(rank)].receive == expected["gather_receive"][f][e]);
  }
  CHECK(redistribute(*gather, local).value() == gathered);
  CHECK(redistribute(*slice, gathered).value() == local);
  const Sharding whole = *Sharding::make(
      from.mesh(), from.shape(), std::vector<Placement>(from.placements().size(), Placement{Replicate{}}));
  CHECK(redistribute(*planRedistribution(from, whole), local).value() == distributed(whole));
  CHECK(redistribute(*planRedistribution(whole, from), distributed(whole)).value() == local);
}

void checkWholeNorms(const Json& expected) {
  const Sharding sharding = shardingOf(expected);
  const auto local = distributed(sharding);
  const Json& whole = expected["arange"]["whole"];
  const std::pair<double, const char*> norms[] = {
      {1, "norm1"}, {2, "norm2"}, {std::numeric_limits<double>::infinity(), "norm_inf"}};
  for (const auto& [p, name] : norms) {
    const auto plan = planNorm(sharding, std::nullopt, p);
    REQUIRE(plan);
    CHECK(std::holds_alternative<Partial>(plan->result.placements()[*sharding.raggedDim()]));
    std::vector<std::vector<double>> parts;
    for (std::int64_t rank = 0; rank < sharding.mesh().ranks(); ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      parts.push_back(localNorm(*plan, rank, local[r]));
      const auto [f, e] = referenceRank(expected, sharding, rank);
      const Json& mine = expected["arange"]["per_rank"][f][e];
      const double value = p == 1   ? mine["sum"].get<double>()
                           : p == 2 ? std::sqrt(mine["sumsq"].get<double>())
                                    : mine["max"].get<double>();
      CHECK(parts.back()[0] == Approx(value).epsilon(1e-13));
      CHECK(mine["numel"] == local[r].size());
    }
    for (const auto& value : combineNorms(*plan, parts))
      CHECK(value[0] == Approx(whole[name].get<double>()).epsilon(1e-13));
  }
}

// The squares of a result gathered to every rank.
std::vector<double> gatheredSquares(const NormPlan& plan, const std::vector<std::vector<double>>& parts) {
  auto combined = combineNorms(plan, parts);
  std::vector<Placement> placements = plan.result.placements();
  for (Placement& placement : placements)
    if (std::holds_alternative<Partial>(placement)) placement = Replicate{};
  const Sharding result = *Sharding::make(plan.result.mesh(), plan.result.shape(), placements);
  const Sharding whole = *Sharding::make(plan.result.mesh(), plan.result.shape(),
                                         std::vector<Placement>(placements.size(), Placement{Replicate{}}));
  auto gathered = redistribute(*planRedistribution(result, whole), combined);
  REQUIRE(gathered);
  for (const auto& one : *gathered) CHECK(one == gathered->front());
  std::vector<double> squares = gathered->front();
  for (double& x : squares) x *= x;
  return squares;
}

void checkDimNorms(const Json& expected) {
  const Sharding sharding = shardingOf(expected);
  const auto local = distributed(sharding);
  for (const Json& one : expected["arange"]["per_dim"]) {
    INFO("dimension " << one["dim"]);
    const auto plan = planNorm(sharding, one["dim"].get<int>(), 2);
    REQUIRE(plan);
    CHECK(plan->result.shape() == one["out_shape"].get<std::vector<std::int64_t>>());
    CHECK(std::holds_alternative<Partial>(plan->result.placements()[*sharding.raggedDim()]) ==
          (one["placement"] == "partial"));
    std::vector<std::vector<double>> parts;
    for (std::int64_t rank = 0; rank < sharding.mesh().ranks(); ++rank) {
      parts.push_back(localNorm(*plan, rank, local[static_cast<std::size_t>(rank)]));
      if (one.contains("out_intervals") && !one["out_intervals"].is_null()) {
        const Interval run = intervalOf(one["out_intervals"][referenceRank(expected, sharding, rank).f]);
        CHECK(plan->result.localInterval(rank) == run);
        CHECK(static_cast<std::int64_t>(parts.back().size()) == run.size());
      }
    }
    const std::vector<double> squares = gatheredSquares(*plan, parts);
    double total = 0;
    for (const double x : squares) total += x;
    CHECK(total == Approx(one["sumsq_total"].get<double>()).epsilon(1e-12));
    unsigned __int128 weighted = 0;
    for (std::size_t i = 0; i < squares.size(); ++i)
      weighted += static_cast<unsigned __int128>(std::llround(squares[i])) * (i + 1);
    CHECK(static_cast<std::uint64_t>(weighted % (std::uint64_t{1} << 61)) ==
          one["sumsq_weighted"].get<std::uint64_t>());
    if (one.contains("sumsq")) {
      const auto each = one["sumsq"].get<std::vector<double>>();
      REQUIRE(squares.size() == each.size());
      for (std::size_t i = 0; i < each.size(); ++i) CHECK(squares[i] == Approx(each[i]).epsilon(1e-12));
    }
  }
}

void forEachCase(void (*check)(const Json&)) {
  const auto text = vsim::test::referenceText("ragged_vectors.json");
  if (!text) return;
  const Json reference = Json::parse(*text);
  CHECK(!reference["cases"].empty());
  for (const Json& one : reference["cases"]) {
    INFO(one["id"].get<std::string>());
    check(one);
  }
}

}  // namespace

TEST_CASE("ragged: blocks and intervals of all reference placements") { forEachCase(checkSlices); }
TEST_CASE("ragged: checkpoint boxes of all reference placements") { forEachCase(checkBoxes); }
TEST_CASE("ragged: redistribution volumes and values of the reference") { forEachCase(checkRedistributions); }
TEST_CASE("ragged: gathers and slices of all reference placements") { forEachCase(checkGathers); }
TEST_CASE("ragged: norms of whole reference tensors") { forEachCase(checkWholeNorms); }
TEST_CASE("ragged: norms of the reference over single dimensions") { forEachCase(checkDimNorms); }

TEST_CASE("ragged: the reference's wrong placements are refused") {
  const auto text = vsim::test::referenceText("ragged_vectors.json");
  if (!text) return;
  const Json reference = Json::parse(*text);
  for (const Json& one : reference["error_cases"]) {
    INFO(one["id"].get<std::string>() << ": " << one["reason"].get<std::string>());
    const auto placement = RaggedShard::make(one["dims"], one["units"]);
    CHECK(!(placement && Sharding::make(meshOf(one["mesh"]), one["shape"], {*placement})));
  }
}
