#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/mesh/sharding.h"
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

void checkCase(const Json& expected) {
  std::vector<Placement> placements;
  for (const Json& one : expected["placements"]) {
    const auto placement = placementOf(one);
    REQUIRE(placement);
    placements.push_back(*placement);
  }
  const auto sharding = Sharding::make(meshOf(expected["mesh"]), expected["shape"], std::move(placements));
  REQUIRE(sharding);
  const auto raggedDim = expected["ragged_mesh_dim"].get<std::size_t>();
  CHECK(sharding->raggedDim() == raggedDim);
  const Json& inner = expected["inner_mesh_dim"];
  const bool hasGlobal = expected.contains("global_intervals") && !expected["global_intervals"].is_null();
  for (std::int64_t rank = 0; rank < sharding->mesh().ranks(); ++rank) {
    INFO("rank " << rank);
    const auto coordinates = sharding->mesh().coordinates(rank);
    const auto f = static_cast<std::size_t>(coordinates[raggedDim]);
    const auto e = inner.is_null() ? 0 : static_cast<std::size_t>(coordinates[inner.get<std::size_t>()]);
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

}  // namespace

TEST_CASE("ragged: blocks and intervals of all reference placements") {
  const auto text = vsim::test::referenceText("ragged_vectors.json");
  if (!text) return;
  const Json reference = Json::parse(*text);
  CHECK(!reference["cases"].empty());
  for (const Json& one : reference["cases"]) {
    INFO(one["id"].get<std::string>());
    checkCase(one);
  }
}

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
