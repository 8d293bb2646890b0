#include "gpu/rounding.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace vsim::gpu {
namespace {

float roundToBf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // Half of the last place kept, less one where the kept part is even: ties go to even.
  const std::uint32_t rounded = bits + 0x7fffU + ((bits >> 16U) & 1U);
  return std::bit_cast<float>(rounded & 0xffff0000U);
}

float roundToFp16(float value) {
  constexpr float kOverflow = 65520.0F;
  if (std::abs(value) >= kOverflow) return std::copysign(std::numeric_limits<float>::infinity(), value);
  int exponent = 0;
  std::frexp(value, &exponent);
  constexpr int kSmallestExponent = -13, kSignificand = 11;  // frexp's exponent of 2^-14
  const int last = (exponent < kSmallestExponent ? kSmallestExponent : exponent) - kSignificand;
  return std::ldexp(std::nearbyint(std::ldexp(value, -last)), last);
}

}  // namespace

float roundTo(core::DType type, float value) {
  if (std::isnan(value)) return value;
  if (type == core::DType::bf16) return std::isinf(value) ? value : roundToBf16(value);
  if (type == core::DType::fp16) return roundToFp16(value);
  return value;
}

bool isFloating(core::DType type) {
  return type == core::DType::fp32 || type == core::DType::bf16 || type == core::DType::fp16;
}

}  // namespace vsim::gpu
