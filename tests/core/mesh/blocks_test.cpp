#include "core/mesh/blocks.h"

#include <catch2/catch.hpp>

#include "tests/support/random_sharding.h"

using namespace vsim::core;
using vsim::test::meshOf;
using Shape = std::vector<std::int64_t>;

namespace {

// "(2,3)@(0,1) ..." of each rank.
std::string listed(const std::vector<TensorBlock>& boxes) {
  std::string result;
  const auto tuple = [](const Shape& values) {
    std::string text = "(";
    for (const std::int64_t value : values) text += (text.size() > 1 ? "," : "") + std::to_string(value);
    return text + ")";
  };
  for (const TensorBlock& box : boxes)
    result += (result.empty() ? "" : " ") + tuple(box.size) + "@" + tuple(box.offset);
  return result;
}

std::vector<std::string> boxesOf(const Shape& shape, std::vector<int> dims, Shape units) {
  const auto ranks = static_cast<std::int64_t>(units.size());
  const auto sharding =
      Sharding::make(meshOf({ranks}), shape, {*RaggedShard::make(std::move(dims), std::move(units))});
  REQUIRE(sharding);
  std::vector<std::string> result;
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    result.push_back(listed(checkpointBoxes(*sharding, rank)));
  return result;
}

using Lists = std::vector<std::string>;

void appendPositions(const Shape& shape, const TensorBlock& box, std::vector<std::int64_t>& positions) {
  for (std::int64_t i = 0; i < box.elements(); ++i) {
    std::int64_t rest = i, position = 0, stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      position += (box.offset[d] + rest % box.size[d]) * stride;
      rest /= box.size[d];
      stride *= shape[d];
    }
    positions.push_back(position);
  }
}

}  // namespace

TEST_CASE("blocks: checkpoint lists of two and four dimensions") {
  CHECK(boxesOf({2, 64}, {0, 1}, {21, 21, 22, 0}) ==
        Lists{"(1,42)@(0,0)", "(1,22)@(0,42) (1,20)@(1,0)", "(1,44)@(1,20)", ""});
  CHECK(boxesOf({2, 64}, {0, 1}, {1, 1, 1, 1}) ==
        Lists{"(1,32)@(0,0)", "(1,32)@(0,32)", "(1,32)@(1,0)", "(1,32)@(1,32)"});
  CHECK(boxesOf({2, 64}, {0}, {1, 1, 0, 0}) == Lists{"(1,64)@(0,0)", "(1,64)@(1,0)", "", ""});
  CHECK(boxesOf({2, 64}, {}, {0, 1, 0, 0}) == Lists{"", "(2,64)@(0,0)", "", ""});
  const Shape four{5, 3, 6, 7};
  CHECK(boxesOf(four, {0, 1}, {3, 7, 4, 1}) ==
        Lists{"(1,3,6,7)@(0,0,0,0)", "(2,3,6,7)@(1,0,0,0) (1,1,6,7)@(3,0,0,0)",
              "(1,2,6,7)@(3,1,0,0) (1,2,6,7)@(4,0,0,0)", "(1,1,6,7)@(4,2,0,0)"});
  CHECK(boxesOf(four, {0, 1}, {5, 3, 7, 0}) == Lists{"(1,3,6,7)@(0,0,0,0) (1,2,6,7)@(1,0,0,0)",
                                                     "(1,1,6,7)@(1,2,0,0) (1,2,6,7)@(2,0,0,0)",
                                                     "(1,1,6,7)@(2,2,0,0) (2,3,6,7)@(3,0,0,0)", ""});
  CHECK(boxesOf(four, {0, 1, 2}, {43, 23, 7, 17}) ==
        Lists{"(2,3,6,7)@(0,0,0,0) (1,1,6,7)@(2,0,0,0) (1,1,1,7)@(2,1,0,0)",
              "(1,1,5,7)@(2,1,1,0) (1,1,6,7)@(2,2,0,0) (1,2,6,7)@(3,0,0,0)",
              "(1,1,6,7)@(3,2,0,0) (1,1,1,7)@(4,0,0,0)", "(1,1,5,7)@(4,0,1,0) (1,2,6,7)@(4,1,0,0)"});
  // The last rank's list would begin with an empty box after a carry: it is left out.
  CHECK(boxesOf(four, {0, 1, 2, 3}, {17, 13, 31, 2}) ==
        Lists{"(1,3,6,7)@(0,0,0,0) (1,1,6,7)@(1,0,0,0) (1,1,1,2)@(1,1,0,0)",
              "(1,1,1,5)@(1,1,0,2) (1,1,5,7)@(1,1,1,0) (1,1,6,7)@(1,2,0,0) (1,1,6,7)@(2,0,0,0) "
              "(1,1,1,6)@(2,1,0,0)",
              "(1,1,1,1)@(2,1,0,6) (1,1,5,7)@(2,1,1,0) (1,1,6,7)@(2,2,0,0) (1,3,6,7)@(3,0,0,0) "
              "(1,2,6,7)@(4,0,0,0) (1,1,3,7)@(4,2,0,0) (1,1,1,1)@(4,2,3,0)",
              "(1,1,1,6)@(4,2,3,1) (1,1,2,7)@(4,2,4,0)"});
}

TEST_CASE("blocks: runs of any neighbouring dimensions of a part of a tensor") {
  const TensorBlock part{.offset = {3, 0, 10}, .size = {2, 3, 4}};
  CHECK(listed(boxesOfRun(part, 1, 2, {1, 9})) == "(2,1,3)@(3,0,11) (2,1,4)@(3,1,10) (2,1,1)@(3,2,10)");
  CHECK(listed(boxesOfRun(part, 0, 1, {1, 2})) == "(1,3,4)@(4,0,10)");
  CHECK(boxesOfRun(part, 0, 3, {7, 7}).empty());
  CHECK(listed(boxesOfRun({.offset = {}, .size = {}}, 0, 0, {0, 1})) == "()@()");
  CHECK(boxesOfRun({.offset = {0, 0}, .size = {4, 0}}, 0, 1, {0, 4}).empty());
}

TEST_CASE("blocks: every run of three dimensions in at most five boxes, none empty, in order") {
  const Shape shape{2, 3, 4};
  for (std::int64_t begin = 0; begin <= 24; ++begin)
    for (std::int64_t end = begin; end <= 24; ++end) {
      const auto boxes = boxesOfRun({.offset = {0, 0, 0}, .size = shape}, 0, 3, {begin, end});
      CHECK(boxes.size() <= 5);
      std::vector<std::int64_t> positions, expected;
      for (const TensorBlock& box : boxes) {
        CHECK(box.elements() > 0);
        appendPositions(shape, box, positions);
      }
      for (std::int64_t i = begin; i < end; ++i) expected.push_back(i);
      CHECK(positions == expected);
    }
}

TEST_CASE("blocks: held blocks follow the local tensor and tile the whole on random placements") {
  std::mt19937 random(3);
  for (int trial = 0; trial < 400; ++trial) {
    const auto mesh = vsim::test::randomMesh(random, 3, 4);
    const auto shape = vsim::test::randomShape(random, 4, 7);
    const auto sharding = vsim::test::randomSharding(random, mesh, shape, vsim::test::Partials::none);
    std::vector<TensorBlock> all;
    for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      std::vector<std::int64_t> positions;
      for (const HeldBlock& held : heldBlocks(sharding, rank)) {
        CHECK(held.begin == static_cast<std::int64_t>(positions.size()));
        appendPositions(shape, held.block, positions);
      }
      CHECK(positions == vsim::test::globalPositions(sharding, rank));
      bool first = true;
      for (std::size_t i = 0; i < mesh.dims().size(); ++i)
        first = first && (!std::holds_alternative<Replicate>(sharding.placements()[i]) ||
                          mesh.coordinate(rank, i) == 0);
      if (first)
        for (const TensorBlock& box : checkpointBoxes(sharding, rank)) all.push_back(box);
    }
    CHECK(tile(shape, all));
    if (all.empty()) continue;
    std::vector<TensorBlock> wrong = all;
    wrong.push_back(wrong[random() % wrong.size()]);
    CHECK_FALSE(tile(shape, wrong));
    wrong.resize(all.size() - 1);
    CHECK_FALSE(tile(shape, wrong));
  }
}

TEST_CASE("blocks: overlaps that the volume hides are seen") {
  const Shape shape{4, 4};
  const TensorBlock left{.offset = {0, 0}, .size = {4, 2}}, right{.offset = {0, 2}, .size = {4, 2}},
      middle{.offset = {0, 1}, .size = {4, 2}};
  CHECK(tile(shape, std::vector<TensorBlock>{right, left}));
  CHECK_FALSE(tile(shape, std::vector<TensorBlock>{left, middle}));
  CHECK_FALSE(tile(shape, std::vector<TensorBlock>{left, left}));
  CHECK(tile(Shape{}, std::vector<TensorBlock>{{.offset = {}, .size = {}}}));
  CHECK_FALSE(tile(Shape{}, std::vector<TensorBlock>{}));
  CHECK(tile(Shape{4, 0}, std::vector<TensorBlock>{}));
  const std::int64_t large = std::int64_t{1} << 30;
  CHECK(tile(Shape{large, large}, std::vector<TensorBlock>{{.offset = {0, 0}, .size = {large, 7}},
                                                           {.offset = {0, 7}, .size = {large, large - 7}}}));
}

TEST_CASE("blocks: copies between two blocks use as few runs as their layouts allow") {
  const HeldBlock rows{.block = {.offset = {0, 0, 0}, .size = {4, 3, 5}}, .begin = 100};
  // The same layout behind dimension 0: one run.
  CHECK(commonRuns(rows, {.block = {.offset = {1, 0, 0}, .size = {2, 3, 5}}, .begin = 0}) ==
        std::vector<CopyRuns>{{.fromOffset = 115, .toOffset = 0, .elements = 30}});
  // Whole rows of two columns each: one run a row of dimension 0.
  CHECK(commonRuns(rows, {.block = {.offset = {0, 1, 0}, .size = {4, 2, 5}}, .begin = 7}) ==
        std::vector<CopyRuns>{
            {.fromOffset = 105, .toOffset = 7, .elements = 10, .runs = 4, .fromStride = 15, .toStride = 10}});
  // Part of both inner dimensions: a pattern for each index of the outer one.
  CHECK(commonRuns(rows, {.block = {.offset = {2, 1, 3}, .size = {2, 2, 2}}, .begin = 0}).size() == 2);
  CHECK(commonRuns(rows, {.block = {.offset = {4, 0, 0}, .size = {1, 3, 5}}, .begin = 0}).empty());
}
