#pragma once

#include <cstdint>
#include <numeric>
#include <optional>

namespace vsim::core {

/// Integer arithmetic that answers nullopt instead of overflowing: sizes come from input files.
inline std::optional<std::int64_t> checkedAdd(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<std::int64_t> checkedMultiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<std::int64_t> checkedLcm(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  return checkedMultiply(a / std::gcd(a, b), b);
}

/// Quotient rounded up; a >= 0, b > 0.
constexpr std::int64_t ceilDivide(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }
/// Smallest multiple of `unit` that is >= a; a >= 0, unit > 0. The caller knows that it fits.
constexpr std::int64_t roundUp(std::int64_t a, std::int64_t unit) { return ceilDivide(a, unit) * unit; }

}  // namespace vsim::core
