#pragma once

#include <cstdint>

namespace vsim::gpu {

/// The arithmetic of synthetic numbers (gpu/synthetic.h), for hosts and devices alike.

/// The finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
constexpr std::uint64_t mixedBits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Element `element` of the tensor whose numbers follow from `base`: a multiple of 2^-23 in [-1, 1).
constexpr float syntheticValue(std::uint64_t base, std::int64_t element) {
  const auto bits = static_cast<std::int32_t>(mixedBits(base + static_cast<std::uint64_t>(element)) >> 40U);
  return static_cast<float>(bits - (1 << 23)) / static_cast<float>(1 << 23);
}

}  // namespace vsim::gpu
