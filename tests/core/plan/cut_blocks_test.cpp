#include "core/plan/cut_blocks.h"

#include <catch2/catch.hpp>
#include <set>

#include "core/base/checked.h"

using namespace vsim::core;

namespace {

PlanTensor tensor(std::vector<std::int64_t> shape, std::int64_t block, int dim = 0) {
  PlanTensor result{.name = "t", .shape = std::move(shape), .elements = 1, .block = block, .shardDim = dim};
  for (const std::int64_t size : result.shape) result.elements *= size;
  return result;
}

std::int64_t cut(const LayoutProblem& problem, std::string_view rule) {
  const LayoutRule* found = layoutRule(rule);
  REQUIRE(found);
  const auto layout = found->layout(problem);
  REQUIRE(layout);
  return tensorsWithCutBlocks(problem, *found, *layout);
}

/// Element by element: which device holds it under FSDP2.
bool cutByCounting(const PlanTensor& t, std::int64_t devices) {
  const auto dim = static_cast<std::size_t>(t.shardDim);
  std::int64_t inner = 1;
  for (std::size_t d = dim + 1; d < t.shape.size(); ++d) inner *= t.shape[d];
  const std::int64_t slices = ceilDivide(t.shape[dim], devices);
  std::int64_t owner = -1;
  for (std::int64_t e = 0; e < t.elements; ++e) {
    const std::int64_t device = e / inner % t.shape[dim] / slices;
    if (e % t.block != 0 && device != owner) return true;
    owner = device;
  }
  return false;
}

}  // namespace

TEST_CASE("cut blocks: slices of parameters, against every element", "[plan]") {
  for (const std::int64_t devices : {1, 2, 3, 4, 6, 12})
    for (const std::int64_t block : {1, 2, 3, 4, 5, 8, 12, 24, 1000})
      for (const int dim : {0, 1}) {
        const LayoutProblem problem{.tensors = {tensor({8, 12, 2}, block, dim)}, .devices = devices};
        if (dim == 1 && 12 % devices != 0) continue;
        INFO(devices << " devices, blocks of " << block << ", dim " << dim);
        CHECK(cut(problem, "fsdp2") == (cutByCounting(problem.tensors[0], devices) ? 1 : 0));
      }
}

TEST_CASE("cut blocks: flat buffers", "[plan]") {
  // 100 elements on 4 devices: cuts at 25, 50 and 75.
  const auto flat = [](std::int64_t block) {
    return LayoutProblem{.tensors = {tensor({40}, block), tensor({60}, block)}, .devices = 4};
  };
  CHECK(cut(flat(1), "fsdp1-unaligned") == 0);
  CHECK(cut(flat(5), "fsdp1-unaligned") == 0);
  CHECK(cut(flat(10), "fsdp1-unaligned") == 2);  // at 25 of the first, at 35 of the second
  CHECK(cut(flat(4), "fsdp1-unaligned") == 2);
  CHECK(cut(flat(1000), "fsdp1-unaligned") == 2);
  CHECK(cut(flat(10), "vescale") == 0);
  CHECK(cut(flat(5), "deepspeed") == 0);
  CHECK(cut(flat(7), "deepspeed") == 2);  // ceil(40 / 4) = 10 and 15
}
