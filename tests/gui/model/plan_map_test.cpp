#include "gui/model/plan_map.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "core/plan/cut_blocks.h"
#include "core/plan/layout_rules.h"

using namespace vsim;
using namespace vsim::gui;

namespace {

core::LayoutProblem randomBucket(std::mt19937& random) {
  core::LayoutProblem problem;
  problem.devices = 1 + static_cast<std::int64_t>(random() % 9);
  problem.unit = 4;
  problem.align = 2;
  for (std::size_t i = 0, n = 1 + random() % 8; i < n; ++i) {
    const std::int64_t rows = static_cast<std::int64_t>(random() % 14),
                       columns = 1 + static_cast<std::int64_t>(random() % 6);
    const std::int64_t size = rows * columns;
    problem.tensors.push_back({.name = "t" + std::to_string(i),
                               .shape = {rows, columns},
                               .elements = size,
                               .block = random() % 3 == 0 ? std::max<std::int64_t>(size, 1) : columns});
  }
  return problem;
}

/// Devices of every element of every tensor, by looking at all parts of all devices.
std::vector<std::vector<std::int64_t>> ownersOf(const core::DBuffer& buffer) {
  std::vector<std::vector<std::int64_t>> owners;
  for (const auto& tensor : buffer.tensors()) owners.emplace_back(tensor.elements, -1);
  for (std::int64_t device = 0; device < buffer.devices(); ++device)
    for (const core::TensorPart& part : buffer.parts(device))
      for (std::int64_t e = 0; e < part.elements; ++e)
        owners[part.tensor][static_cast<std::size_t>(part.tensorOffset + e)] = device;
  return owners;
}

void checkRows(const PlanMap& map) {
  std::int64_t devices = 0;
  for (std::size_t row = 0; row < map.rows().size(); ++row) {
    const PlanRow& r = map.rows()[row];
    REQUIRE(r.firstDevice == devices);
    devices += r.devices;
    const std::vector<PlanPiece> pieces = map.pieces(row);
    std::int64_t end = 0;
    for (const PlanPiece& piece : pieces) {
      REQUIRE(piece.begin == end);
      REQUIRE(piece.end > piece.begin);
      end = piece.end;
    }
    REQUIRE(end == map.buffer().shardElements());
    for (std::int64_t e = 0; e < end; ++e) {
      const PlanPiece& piece = pieces[pieceAt(pieces, e)];
      REQUIRE((piece.begin <= e && e < piece.end));
    }
    CHECK(pieceAt(pieces, end) == pieces.size());
    // Every device of the row holds the same tensors at the same places.
    for (std::int64_t device = r.firstDevice; device <= r.lastDevice(); ++device) {
      CHECK(map.rowOf(device) == row);
      std::size_t at = 0;
      for (const core::TensorPart& part : map.buffer().parts(device)) {
        while (pieces[at].padding()) ++at;
        REQUIRE(pieces[at].tensor == static_cast<std::int64_t>(part.tensor));
        REQUIRE(pieces[at].begin == part.shardOffset);
        REQUIRE(pieces[at++].elements() == part.elements);
      }
    }
  }
  CHECK(devices == map.buffer().devices());
}

void checkFacts(const PlanMap& map, const app::PlannedBucket& bucket) {
  const auto owners = ownersOf(map.buffer());
  std::int64_t cutBlocks = 0, split = 0;
  for (std::size_t t = 0; t < owners.size(); ++t) {
    const std::int64_t block = map.block(static_cast<std::int64_t>(t));
    std::set<std::int64_t> cut, devices(owners[t].begin(), owners[t].end());
    for (std::size_t e = 1; e < owners[t].size(); ++e)
      if (static_cast<std::int64_t>(e) % block != 0 && owners[t][e] != owners[t][e - 1])
        cut.insert(static_cast<std::int64_t>(e) / block);
    CHECK(map.cutBlocks(static_cast<std::int64_t>(t)) == static_cast<std::int64_t>(cut.size()));
    cutBlocks += static_cast<std::int64_t>(cut.size());
    split += devices.size() > 1 ? 1 : 0;
  }
  const PlanFacts& facts = map.facts();
  CHECK(facts.cutBlocks == cutBlocks);
  CHECK(facts.cutTensors == bucket.cutTensors);
  CHECK(facts.splitTensors == split);
  std::int64_t most = 0, least = facts.shardElements;
  for (std::int64_t device = 0; device < map.buffer().devices(); ++device) {
    most = std::max(most, map.buffer().usedElements(device));
    least = std::min(least, map.buffer().usedElements(device));
  }
  CHECK(facts.mostUsed == most);
  CHECK(facts.leastUsed == least);
  CHECK(facts.paddingElements == bucket.layout.totalElements() - bucket.layout.unitElements);
}

}  // namespace

TEST_CASE("plan map: rows and pieces cover every shard once, facts are those of every element") {
  std::mt19937 random(20);
  for (int trial = 0; trial < 120; ++trial) {
    INFO("trial " << trial);
    const core::LayoutProblem problem = randomBucket(random);
    for (const core::LayoutRule& rule : core::layoutRules()) {
      INFO("rule " << rule.name);
      app::PlannedBucket bucket{.name = "B", .problem = problem, .layout = {}, .order = {}};
      auto layout = rule.layout(problem);
      if (!layout) continue;
      bucket.layout = *layout;
      bucket.cutTensors = core::tensorsWithCutBlocks(problem, rule, *layout);
      const auto map = PlanMap::make(bucket, std::string(rule.name), 4);
      REQUIRE(map);
      checkRows(*map);
      checkFacts(*map, bucket);
    }
  }
}

TEST_CASE("plan map: slices along a later dimension") {
  app::PlannedBucket bucket{.name = "B", .problem = {}, .layout = {}, .order = {}};
  bucket.problem.devices = 4;
  bucket.problem.tensors = {
      {.name = "experts.w", .shape = {3, 8, 5}, .elements = 120, .block = 10, .shardDim = 1},
      {.name = "bias", .shape = {6}, .elements = 6}};
  const core::LayoutRule& rule = *core::layoutRule("fsdp2");
  bucket.layout = *rule.layout(bucket.problem);
  bucket.cutTensors = core::tensorsWithCutBlocks(bucket.problem, rule, bucket.layout);
  const auto map = PlanMap::make(bucket, "fsdp2", 2);
  REQUIRE(map);
  checkRows(*map);
  checkFacts(*map, bucket);
  CHECK(map->facts().copiesAfter == 2);
  // Devices 0 to 2 hold two elements of the bias each, device 3 none.
  REQUIRE(map->rows().size() == 2);
  CHECK(map->rows()[0].devices == 3);
}

TEST_CASE("plan map: what a pointer is told") {
  app::PlannedBucket bucket{.name = "B", .problem = {}, .layout = {}, .order = {}};
  bucket.problem.devices = 2;
  bucket.problem.tensors = {{.name = "w", .shape = {5, 4}, .elements = 20, .block = 4}};
  const core::LayoutRule& rule = *core::layoutRule("vescale");
  bucket.layout = *rule.layout(bucket.problem);
  const auto map = PlanMap::make(bucket, "vescale", 4);
  REQUIRE(map);
  CHECK(map->facts().shardElements == 12);
  const auto pieces = map->pieces(1);
  REQUIRE(pieces.size() == 2);
  const std::string text = describePiece(*map, map->rows()[1], pieces[0], 5, "fp32");
  CHECK(text.find("w [5 x 4] fp32") == 0);
  CHECK(text.find("global elements 12 to 19, rows 3 to 4 of 5") != std::string::npos);
  CHECK(text.find("element 17 (row 4, column 1)") != std::string::npos);
  CHECK(text.find("devices 0 to 1") != std::string::npos);
  CHECK(text.find("none cut") != std::string::npos);
  CHECK(describePiece(*map, map->rows()[1], pieces[1], 9, "fp32").find("padding\n4 elements, 16 B") == 0);
  CHECK(map->tensorNamed("w") == 0);
  CHECK(map->tensorNamed("v") == -1);
  CHECK(!PlanMap::make(bucket, "no such rule", 4));
  bucket.layout.shardElements = 11;
  CHECK(!PlanMap::make(bucket, "vescale", 4));
}
