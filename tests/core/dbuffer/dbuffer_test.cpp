#include "core/dbuffer/dbuffer.h"

#include <catch2/catch.hpp>
#include <random>

#include "core/plan/fsdp2_layout.h"
#include "core/plan/planner.h"

using namespace vsim::core;

namespace {

LayoutProblem randomUnit(std::mt19937& random) {
  LayoutProblem problem;
  problem.devices = 1 + static_cast<std::int64_t>(random() % 7);
  problem.unit = 4;
  problem.align = 2;
  for (std::size_t i = 0, n = 1 + random() % 8; i < n; ++i) {
    const std::int64_t rows = static_cast<std::int64_t>(random() % 12),
                       columns = 1 + static_cast<std::int64_t>(random() % 5);
    problem.tensors.push_back(
        {.name = "t" + std::to_string(i),
         .shape = {rows, columns},
         .elements = rows * columns,
         .block = random() % 4 == 0 ? std::max<std::int64_t>(rows * columns, 1) : columns});
  }
  return problem;
}

void checkParts(const DBuffer& buffer) {
  std::vector<std::vector<int>> seen;
  for (const PlanTensor& tensor : buffer.tensors())
    seen.emplace_back(static_cast<std::size_t>(tensor.elements), 0);
  for (std::int64_t rank = 0; rank < buffer.devices(); ++rank) {
    std::vector<std::int64_t> local(buffer.tensors().size(), 0);
    std::int64_t end = 0, used = 0;
    for (const TensorPart& part : buffer.parts(rank)) {
      REQUIRE(part.elements > 0);
      REQUIRE(part.shardOffset >= end);
      end = part.shardOffset + part.elements;
      REQUIRE(end <= buffer.shardElements());
      local[part.tensor] += part.elements;
      used += part.elements;
      for (std::int64_t e = 0; e < part.elements; ++e)
        ++seen[part.tensor][static_cast<std::size_t>(part.tensorOffset + e)];
      if (buffer.viewsIntoGathered())
        CHECK(buffer.sliceOffset(rank) + part.shardOffset ==
              buffer.tensorOffset(part.tensor) + part.tensorOffset);
    }
    CHECK(buffer.usedElements(rank) == used);
    const auto whole = buffer.wholeTensors(rank);
    for (std::size_t i = 0; i < local.size(); ++i) {
      CHECK(buffer.localElements(i, rank) == local[i]);
      const auto [first, last] = buffer.owners(i);
      CHECK((local[i] > 0) == (rank >= first && rank < last));
      const bool isWhole = local[i] > 0 && local[i] == buffer.tensors()[i].elements;
      CHECK((std::find(whole.begin(), whole.end(), i) != whole.end()) == isWhole);
    }
  }
  for (const auto& tensor : seen)
    for (const int count : tensor) REQUIRE(count == 1);
}

}  // namespace

TEST_CASE("dbuffer: the parts of all ranks are every tensor exactly once") {
  std::mt19937 random(8);
  for (int trial = 0; trial < 300; ++trial) {
    const LayoutProblem problem = randomUnit(random);
    INFO("trial " << trial);
    const auto contiguous = DBuffer::make(problem.tensors, *planGivenOrder(problem));
    REQUIRE(contiguous);
    checkParts(*contiguous);
    const auto slots = DBuffer::make(problem.tensors, *fsdp2Layout(problem));
    REQUIRE(slots);
    checkParts(*slots);
  }
}

TEST_CASE("dbuffer: a later shard dimension gives one run for every outer index") {
  std::vector<PlanTensor> tensors{{.name = "w", .shape = {3, 4, 2}, .elements = 24, .shardDim = 1}};
  const auto buffer = DBuffer::make(tensors, *fsdp2Layout({.tensors = tensors, .devices = 2}));
  REQUIRE(buffer);
  checkParts(*buffer);
  const auto parts = buffer->parts(1);
  REQUIRE(parts.size() == 3);
  CHECK(parts[1].tensorOffset == 12);
  CHECK(parts[1].shardOffset == 4);
  CHECK(parts[1].elements == 4);
}

TEST_CASE("dbuffer: sizes, slices and alignment") {
  std::vector<PlanTensor> tensors{{.name = "w", .shape = {10, 6}, .elements = 60, .block = 6},
                                  {.name = "b", .shape = {10}, .elements = 10}};
  const LayoutProblem problem{.tensors = tensors, .devices = 4, .unit = 8, .align = 8};
  const auto buffer = DBuffer::make(tensors, *planGivenOrder(problem));
  REQUIRE(buffer);
  CHECK(buffer->shardElements() == 24);
  CHECK(buffer->shardBytes(DType::bf16) == 48);
  CHECK(buffer->unshardedBytes(DType::fp32) == 4 * 24 * 4);
  CHECK(buffer->sliceOffset(3) == 72);
  CHECK(buffer->slicesAligned(DType::bf16));
  CHECK(buffer->tensorsAligned(DType::bf16));
  CHECK(!buffer->slicesAligned(DType::bf16, 32));
  CHECK(!buffer->slicesAligned(DType::fp8));
  CHECK(buffer->viewsIntoGathered());
  const auto fsdp2 = DBuffer::make(tensors, *fsdp2Layout(problem));
  CHECK(!fsdp2->viewsIntoGathered());
  CHECK(!fsdp2->slicesAligned(DType::bf16));  // 21 elements a rank
}

TEST_CASE("dbuffer: placements are those of the parts") {
  std::mt19937 random(9);
  for (int trial = 0; trial < 100; ++trial) {
    const LayoutProblem problem = randomUnit(random);
    const auto buffer = DBuffer::make(problem.tensors, *planGivenOrder(problem));
    REQUIRE(buffer);
    for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
      const RaggedShard placement = buffer->placement(i);
      for (std::int64_t rank = 0; rank < buffer->devices(); ++rank)
        CHECK(placement.interval(problem.tensors[i].shape, rank).size() == buffer->localElements(i, rank));
    }
  }
}

TEST_CASE("dbuffer: what is no layout of the tensors is refused") {
  std::vector<PlanTensor> tensors{{.name = "w", .shape = {8, 4}, .elements = 32, .block = 4},
                                  {.name = "v", .shape = {8, 4}, .elements = 32, .block = 4}};
  Layout layout = *planGivenOrder({.tensors = tensors, .devices = 4});
  layout.offsets[1] -= 4;
  const auto buffer = DBuffer::make(tensors, layout);
  REQUIRE(!buffer);
  CHECK(buffer.error().message.find("overlaps") != std::string::npos);
}

TEST_CASE("dbuffer: a tensor and its part on 100,000 devices without a walk over them") {
  std::vector<PlanTensor> tensors{
      {.name = "w", .shape = {1 << 20, 1024}, .elements = std::int64_t{1} << 30, .block = 1024}};
  const LayoutProblem problem{.tensors = tensors, .devices = 100'000, .unit = 8, .align = 8};
  const auto buffer = DBuffer::make(tensors, *planGivenOrder(problem));
  REQUIRE(buffer);
  CHECK(buffer->shardElements() == 11 * 1024);
  CHECK(buffer->parts(95'324).size() == 1);
  CHECK(buffer->owners(0) == std::pair<std::int64_t, std::int64_t>{0, 95'326});
  CHECK(buffer->parts(95'326).empty());
}
