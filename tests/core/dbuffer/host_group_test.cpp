#include "core/dbuffer/host_group.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/dbuffer/group_operation.h"
#include "core/plan/fsdp2_layout.h"
#include "core/plan/planner.h"

using namespace vsim::core;

namespace {

const std::vector<PlanTensor>& tensors() {
  static const std::vector<PlanTensor> list{{.name = "w", .shape = {10, 6}, .elements = 60, .block = 6},
                                            {.name = "b", .shape = {10}, .elements = 10},
                                            {.name = "n", .shape = {7}, .elements = 7}};
  return list;
}

std::vector<std::vector<float>> counted() {
  std::vector<std::vector<float>> values;
  float next = 1;
  for (const PlanTensor& tensor : tensors()) {
    auto& flat = values.emplace_back(static_cast<std::size_t>(tensor.elements));
    for (float& value : flat) value = next++;
  }
  return values;
}

// All ranks' shards one after the other: what an all-gather leaves on every rank.
std::vector<float> gathered(const DBuffer& buffer, const std::vector<std::vector<float>>& values) {
  std::vector<std::span<const float>> views(values.begin(), values.end());
  std::vector<float> all(static_cast<std::size_t>(buffer.unshardedElements()), -1.0f);
  for (std::int64_t rank = 0; rank < buffer.devices(); ++rank)
    packShard(buffer, rank, views,
              std::span(all).subspan(static_cast<std::size_t>(buffer.sliceOffset(rank)),
                                     static_cast<std::size_t>(buffer.shardElements())));
  return all;
}

}  // namespace

TEST_CASE("host group: shards packed and gathered in place are the tensors") {
  const LayoutProblem problem{.tensors = tensors(), .devices = 4};
  const auto values = counted();
  for (const Layout& layout : {*planGivenOrder(problem), *fsdp2Layout(problem)}) {
    const auto buffer = DBuffer::make(tensors(), layout);
    REQUIRE(buffer);
    const auto all = gathered(*buffer, values);
    if (buffer->viewsIntoGathered())
      for (std::size_t i = 0; i < values.size(); ++i)
        CHECK(std::equal(values[i].begin(), values[i].end(), all.begin() + buffer->tensorOffset(i)));
    // Sum of 1 .. 77: nothing but the tensors and zeros is in the buffer.
    CHECK(std::accumulate(all.begin(), all.end(), 0.0) == 77 * 78 / 2);

    std::vector<std::vector<float>> back;
    for (const auto& flat : values) back.emplace_back(flat.size(), 0.0f);
    const std::vector<std::span<float>> views(back.begin(), back.end());
    for (std::int64_t rank = 0; rank < buffer->devices(); ++rank)
      unpackShard(*buffer, rank,
                  std::span(all).subspan(static_cast<std::size_t>(buffer->sliceOffset(rank)),
                                         static_cast<std::size_t>(buffer->shardElements())),
                  views);
    CHECK(back == values);
  }
}

TEST_CASE("host group: operations over the whole group leave the padding zero") {
  const auto buffer = DBuffer::make(tensors(), *planGivenOrder({.tensors = tensors(), .devices = 4}));
  auto all = gathered(*buffer, counted());
  CHECK(squaredNormOfGroup(all) == 77.0 * 78 * 155 / 6);
  std::vector<float> other(all);
  scaleGroup(all, 2.0f);
  addGroup(other, all);
  std::vector<std::uint16_t> half(all.size());
  castGroup(all, half);
  std::vector<float> widened(all.size(), -1.0f), copy(all.size(), -1.0f);
  castGroup(half, widened);
  copyGroup(widened, copy);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i] == 3 * other[i]);
    CHECK(copy[i] == Approx(all[i]).epsilon(1.0 / 256));
    if (other[i] == 0) CHECK(copy[i] == 0);
  }
  zeroGroup(copy);
  CHECK(squaredNormOfGroup(copy) == 0);
}

TEST_CASE("host group: bf16 rounds to nearest even and keeps NaN and infinity") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{1.0f,     1.00390625f,   1.01171875f,  -2.5f,
                                  infinity, std::nanf(""), 3.4028235e38f};
  std::vector<std::uint16_t> half(values.size());
  std::vector<float> back(values.size());
  castGroup(values, half);
  castGroup(half, back);
  CHECK(half[0] == 0x3f80);
  CHECK(back[1] == 1.0f);       // halfway: down to even
  CHECK(back[2] == 1.015625f);  // halfway: up to even
  CHECK(back[3] == -2.5f);
  CHECK(back[4] == infinity);
  CHECK(std::isnan(back[5]));
  CHECK(back[6] == infinity);
}

TEST_CASE("group operation: bytes moved") {
  const auto bytes = [](GroupOperation operation) {
    return std::pair(operation.bytesRead, operation.bytesWritten);
  };
  using P = std::pair<Bytes, Bytes>;
  CHECK(bytes(groupOperation(GroupOp::zero, 100, DType::fp32)) == P{0, 400});
  CHECK(bytes(groupOperation(GroupOp::scale, 100, DType::bf16)) == P{200, 200});
  CHECK(bytes(groupOperation(GroupOp::add, 100, DType::bf16, DType::fp32)) == P{600, 400});
  CHECK(bytes(groupOperation(GroupOp::cast, 100, DType::fp32, DType::bf16)) == P{400, 200});
  CHECK(bytes(groupOperation(GroupOp::copy, 100, DType::fp8)) == P{100, 100});
  CHECK(bytes(groupOperation(GroupOp::norm, 100, DType::fp32)) == P{400, 4});
  const Operation kernel = asKernel(groupOperation(GroupOp::cast, 100, DType::fp32, DType::bf16));
  CHECK(kernel.name == "group_cast");
  CHECK(kernel.kind == OpKind::memory);
  CHECK(kernel.memoryOp == MemoryOp::cast);
  CHECK(kernel.bytesRead == 400);
  CHECK(kernel.dtype == DType::bf16);
}

TEST_CASE("host group: axpy over the whole shard leaves padding zero") {
  const LayoutProblem problem{.tensors = tensors(), .devices = 4};
  const auto buffer = DBuffer::make(tensors(), *planGivenOrder(problem));
  REQUIRE(buffer);
  const auto values = counted();
  std::vector<float> sum(static_cast<std::size_t>(buffer->unshardedElements()), 0.0f);
  const std::vector<float> all = gathered(*buffer, values);
  axpyGroup(2.0f, all, sum);
  axpyGroup(-0.5f, all, sum);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(sum[i] == 1.5f * all[i]);
  const GroupOperation axpy =
      groupOperation(GroupOp::axpy, buffer->shardElements(), DType::bf16, DType::fp32);
  CHECK(axpy.bytesRead == buffer->shardBytes(DType::bf16) + buffer->shardBytes(DType::fp32));
  CHECK(axpy.bytesWritten == buffer->shardBytes(DType::fp32));
  CHECK(asKernel(axpy).name == "group_axpy");
}
