#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "gpu/rounding.h"
#include "gpu/synthetic.h"

using namespace vsim;
using core::DType;
using gpu::roundTo;

TEST_CASE("bf16 keeps eight bits and rounds ties to even") {
  CHECK(roundTo(DType::bf16, 1.0F) == 1.0F);
  CHECK(roundTo(DType::bf16, 1.0F + 0x1p-8F) == 1.0F);                // tie, even below
  CHECK(roundTo(DType::bf16, 1.0F + 3 * 0x1p-8F) == 1.0F + 0x1p-6F);  // tie, even above
  CHECK(roundTo(DType::bf16, 1.0F + 0x1.1p-8F) == 1.0F + 0x1p-7F);
  CHECK(roundTo(DType::bf16, -3.14159265F) == -3.140625F);
  CHECK(std::isinf(roundTo(DType::bf16, std::numeric_limits<float>::max())));
  CHECK(std::isnan(roundTo(DType::bf16, std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("fp16 keeps eleven bits, subnormals and infinity") {
  CHECK(roundTo(DType::fp16, 1.0F + 0x1p-11F) == 1.0F);
  CHECK(roundTo(DType::fp16, 1.0F + 3 * 0x1p-11F) == 1.0F + 0x1p-9F);
  CHECK(roundTo(DType::fp16, 65504.0F) == 65504.0F);
  CHECK(roundTo(DType::fp16, 65519.0F) == 65504.0F);
  CHECK(std::isinf(roundTo(DType::fp16, 65520.0F)));
  CHECK(roundTo(DType::fp16, 0x1p-24F) == 0x1p-24F);
  CHECK(roundTo(DType::fp16, 0x1p-25F) == 0.0F);
  CHECK(roundTo(DType::fp16, 3 * 0x1p-25F) == 0x1p-23F);
  CHECK(roundTo(DType::fp16, 0x1.0018p-14F) == 0x1p-14F);
  CHECK(roundTo(DType::fp32, 0.1F) == 0.1F);
}

TEST_CASE("synthetic numbers depend on everything that names them") {
  const gpu::TensorKey key{1, "L1.weight", 0};
  const float value = gpu::InitialValues(key)(3);
  CHECK(value >= -1.0F);
  CHECK(value < 1.0F);
  CHECK(gpu::InitialValues(key)(3) == value);
  CHECK(gpu::InitialValues(key)(4) != value);
  CHECK(gpu::InitialValues({2, "L1.weight", 0})(3) != value);
  CHECK(gpu::InitialValues({1, "L2.weight", 0})(3) != value);
  CHECK(gpu::InitialValues({1, "L1.weight", 1})(3) != value);
  const float gradient = gpu::GradientValues(key, 0, 0, 0)(3);
  CHECK(gpu::GradientValues(key, 1, 0, 0)(3) != gradient);
  CHECK(gpu::GradientValues(key, 0, 1, 0)(3) != gradient);
  CHECK(gpu::GradientValues(key, 0, 0, 1)(3) != gradient);
}
