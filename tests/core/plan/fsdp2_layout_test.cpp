#include "core/plan/fsdp2_layout.h"

#include <catch2/catch.hpp>
#include <random>

using namespace vsim::core;
using Shape = std::vector<std::int64_t>;

TEST_CASE("fsdp2 layout: slices of all ranks cover every parameter once") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 500; ++trial) {
    const std::int64_t devices = 1 + static_cast<std::int64_t>(random() % 9);
    PlanTensor tensor{.name = "t", .shape = {static_cast<std::int64_t>(random() % 20), 3}};
    tensor.elements = tensor.shape[0] * 3;
    std::int64_t next = 0, elements = 0;
    for (std::int64_t rank = 0; rank < devices; ++rank) {
      const Fsdp2Slice slice = fsdp2Slice(tensor, devices, rank);
      CHECK(slice.first == next);
      CHECK(slice.count >= 0);
      CHECK(slice.count <= slice.paddedCount);
      CHECK(slice.elements == slice.count * 3);
      next += slice.count;
      elements += slice.elements;
    }
    CHECK(next == tensor.shape[0]);
    CHECK(elements == tensor.elements);
  }
}

TEST_CASE("fsdp2 layout: more devices than rows leave ranks without any") {
  const PlanTensor tensor{.name = "experts", .shape = {3, 2}, .elements = 6};
  CHECK(fsdp2Slice(tensor, 8, 2).count == 1);
  CHECK(fsdp2Slice(tensor, 8, 3).count == 0);
  CHECK(fsdp2Slice(tensor, 8, 7).elements == 0);
  CHECK(fsdp2Slice(tensor, 8, 7).paddedElements == 2);
  CHECK(fsdp2LocalShape(tensor, 8, 7) == Shape{0, 2});
  const auto layout = fsdp2Layout({.tensors = {tensor}, .devices = 8});
  CHECK(layout->totalElements() == 16);
  CHECK(layout->lowerBound == 1);
}

TEST_CASE("fsdp2 layout: what the library refuses is refused") {
  const auto plan = [](PlanTensor tensor) {
    return fsdp2Layout({.tensors = {std::move(tensor)}, .devices = 4});
  };
  CHECK(!plan({.name = "scalar", .shape = {}, .elements = 1}));
  CHECK(!plan({.name = "t", .shape = {4, 6}, .elements = 24, .shardDim = 1}));
  CHECK(!plan({.name = "t", .shape = {4, 8}, .elements = 32, .shardDim = 2}));
  CHECK(plan({.name = "t", .shape = {4, 8}, .elements = 32, .shardDim = 1}));
  CHECK(!plan({.name = "t", .shape = {4, 8}, .elements = 31}));
}
