#include "gpu/elements.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>

#include "gpu/rounding.h"

using namespace vsim;
using core::DType;

TEST_CASE("elements: every half survives a round trip, and reads as the value that rounding keeps") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = gpu::loadElement(DType::fp16, &half, 0);
    if (std::isnan(value)) continue;
    CAPTURE(bits, value);
    std::uint16_t back = 0;
    gpu::storeElement(DType::fp16, &back, 0, value);
    if (back != half || gpu::roundTo(DType::fp16, value) != value) FAIL("not the same");
  }
}

TEST_CASE("elements: known patterns") {
  const std::uint16_t halves[]{0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00};
  CHECK(gpu::loadElement(DType::fp16, halves, 0) == 1.0F);
  CHECK(gpu::loadElement(DType::fp16, halves, 1) == -2.0F);
  CHECK(gpu::loadElement(DType::fp16, halves, 2) == std::ldexp(1.0F, -24));
  CHECK(gpu::loadElement(DType::fp16, halves, 3) == 65504.0F);
  CHECK(std::isinf(gpu::loadElement(DType::fp16, halves, 4)));
  std::uint16_t brains[2]{};
  gpu::storeElement(DType::bf16, brains, 1, 1.00390625F);  // halfway between 1 and 1 + 2^-7: to even
  CHECK(brains[0] == 0);
  CHECK(brains[1] == 0x3f80);
}
