#include "gpu/elements.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "gpu/rounding.h"

namespace vsim::gpu {
namespace {

using core::DType;

// IEEE 754 binary16: 5 bits of exponent with bias 15, 10 of fraction.
constexpr int kHalfFraction = 10, kHalfBias = 15, kHalfMaxExponent = 31;

float halfToFloat(std::uint16_t bits) {
  const int exponent = bits >> kHalfFraction & kHalfMaxExponent, fraction = bits & ((1 << kHalfFraction) - 1);
  float value = 0;
  if (exponent == kHalfMaxExponent)
    value = fraction == 0 ? INFINITY : NAN;
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(fraction), 1 - kHalfBias - kHalfFraction);
  else
    value =
        std::ldexp(static_cast<float>(fraction + (1 << kHalfFraction)), exponent - kHalfBias - kHalfFraction);
  return (bits & 0x8000U) != 0 ? -value : value;
}

// `value` is one that a half can hold.
std::uint16_t floatToHalf(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000U : 0U;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (value == 0) return sign;
  int exponent = 0;
  const float significand = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  if (exponent + kHalfBias - 1 <= 0) {
    const float fraction = std::ldexp(std::fabs(value), kHalfBias - 1 + kHalfFraction);
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(fraction));
  }
  const auto fraction =
      static_cast<std::uint16_t>(std::ldexp(significand, kHalfFraction + 1)) & ((1U << kHalfFraction) - 1);
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(exponent + kHalfBias - 1) << kHalfFraction |
                                    fraction);
}

template <class T>
T at(const void* array, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(array) + index * static_cast<std::int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

template <class T>
void put(void* array, std::int64_t index, T value) {
  std::memcpy(static_cast<char*>(array) + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

}  // namespace

float loadElement(DType type, const void* array, std::int64_t index) {
  switch (type) {
    case DType::bf16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(at<std::uint16_t>(array, index)) << 16U);
    case DType::fp16:
      return halfToFloat(at<std::uint16_t>(array, index));
    default:
      return at<float>(array, index);
  }
}

void storeElement(DType type, void* array, std::int64_t index, float value) {
  switch (type) {
    case DType::bf16:
      return put(array, index,
                 static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(roundTo(type, value)) >> 16U));
    case DType::fp16:
      return put(array, index, floatToHalf(roundTo(type, value)));
    default:
      return put(array, index, value);
  }
}

void loadElements(DType type, const void* array, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = loadElement(type, array, static_cast<std::int64_t>(i));
}

}  // namespace vsim::gpu
