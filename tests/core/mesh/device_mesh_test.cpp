#include "core/mesh/device_mesh.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "core/mesh/parallel_meshes.h"

using namespace vsim::core;

TEST_CASE("mesh: ranks and coordinates are inverse on random meshes") {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<MeshDim> dims;
    const int count = 1 + static_cast<int>(random() % 4);
    for (int d = 0; d < count; ++d)
      dims.push_back({"d" + std::to_string(d), 1 + static_cast<std::int64_t>(random() % 6)});
    const auto mesh = DeviceMesh::make(dims);
    REQUIRE(mesh);
    for (std::int64_t rank = 0; rank < mesh->ranks(); ++rank) {
      const auto coordinates = mesh->coordinates(rank);
      CHECK(mesh->rank(coordinates) == rank);
      for (std::size_t d = 0; d < dims.size(); ++d) CHECK(mesh->coordinate(rank, d) == coordinates[d]);
    }
  }
}

TEST_CASE("mesh: a group holds the ranks that differ in its dimension alone") {
  const auto mesh = DeviceMesh::make({{"a", 3}, {"b", 4}, {"c", 2}});
  REQUIRE(mesh);
  for (std::size_t d = 0; d < 3; ++d) {
    const CommGroup group = mesh->group(d);
    for (std::int64_t rank = 0; rank < mesh->ranks(); ++rank) {
      const auto ranks = groupRanks(group, rank);
      CHECK(static_cast<std::int64_t>(ranks.size()) == mesh->dims()[d].size);
      // The base as the definition of CommGroup has it.
      CHECK(groupBase(group, rank) ==
            rank / (group.size * group.stride) * (group.size * group.stride) + rank % group.stride);
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        auto expected = mesh->coordinates(rank);
        expected[d] = static_cast<std::int64_t>(i);
        CHECK(mesh->rank(expected) == ranks[i]);
      }
      CHECK(ranks[static_cast<std::size_t>(indexInGroup(group, rank))] == rank);
    }
  }
}

TEST_CASE("mesh: neighbouring dimensions flatten, others do not") {
  const auto mesh = DeviceMesh::make({{"a", 3}, {"b", 4}, {"one", 1}, {"c", 2}});
  REQUIRE(mesh);
  const std::string_view ab[] = {"b", "a"}, bc[] = {"b", "c"}, ac[] = {"a", "c"}, twice[] = {"a", "a"},
                         unknown[] = {"x"}, ones[] = {"one"};
  const auto flatAb = mesh->flattened(ab, "ab");
  REQUIRE(flatAb);
  CHECK(flatAb->name == "ab");
  CHECK(flatAb->size == 12);
  CHECK(flatAb->stride == 2);
  const auto flatBc = mesh->flattened(bc, "bc");
  REQUIRE(flatBc);
  CHECK(flatBc->size == 8);
  CHECK(flatBc->stride == 1);
  CHECK(groupRanks(*flatBc, 9) == std::vector<std::int64_t>{8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(!mesh->flattened(ac, "ac"));
  CHECK(!mesh->flattened(twice, "twice"));
  CHECK(!mesh->flattened(unknown, "unknown"));
  CHECK(mesh->flattened(ones, "one")->size == 1);
  CHECK(!mesh->group("d"));
}

TEST_CASE("mesh: impossible meshes are refused") {
  CHECK(!DeviceMesh::make({}));
  CHECK(!DeviceMesh::make({{"", 2}}));
  CHECK(!DeviceMesh::make({{"a", 0}}));
  CHECK(!DeviceMesh::make({{"a", -3}}));
  CHECK(!DeviceMesh::make({{"a", 2}, {"a", 2}}));
  CHECK(!DeviceMesh::make({{"a", std::int64_t{1} << 40}, {"b", std::int64_t{1} << 40}}));
}

TEST_CASE("mesh: experts are carved out of the innermost ranks") {
  const auto meshes = makeParallelMeshes({.replicate = 10, .fsdp = 1024, .tensor = 1, .expert = 64});
  REQUIRE(meshes);
  CHECK(meshes->dense.ranks() == 10240);
  CHECK(meshes->sparse.ranks() == 10240);
  const auto ep = meshes->sparse.group("ep"), efsdp = meshes->sparse.group("efsdp");
  CHECK(ep->size == 64);
  CHECK(ep->stride == 1);
  CHECK(efsdp->size == 16);
  CHECK(efsdp->stride == 64);
  CHECK(meshes->sparse.group("dp_replicate")->stride == 1024);
  CHECK(meshes->dense.group("dp_shard")->size == 1024);

  const auto withTensor = makeParallelMeshes({.replicate = 1, .fsdp = 4, .tensor = 2, .expert = 4});
  REQUIRE(withTensor);
  CHECK(withTensor->dense.group("dp_shard")->stride == 2);
  CHECK(groupRanks(*withTensor->sparse.group("ep"), 5) == std::vector<std::int64_t>{4, 5, 6, 7});
  CHECK(groupRanks(*withTensor->sparse.group("efsdp"), 5) == std::vector<std::int64_t>{1, 5});

  const auto refused = makeParallelMeshes({.replicate = 1, .fsdp = 8, .tensor = 3, .expert = 16});
  REQUIRE(!refused);
  CHECK(refused.error().hint == "12 would");
  CHECK(!makeParallelMeshes({.fsdp = 0}));
  CHECK(!makeParallelMeshes({.expert = 0}));
}
