#pragma once

// Numbers of the narrow types. Compiles for the device, and without CUDA for the host, where tests run the
// kernels thread by thread.

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define VSIM_ON_DEVICE __device__ __forceinline__
#define VSIM_UNROLL _Pragma("unroll")
#else
#define VSIM_ON_DEVICE inline
#define VSIM_UNROLL
#endif

namespace vsim::gpu::cuda {

struct Bf16 {
  std::uint16_t bits;
};
struct Fp16 {
  std::uint16_t bits;
};
struct Fp8 {  // e4m3: no infinities, largest value 448
  std::uint8_t bits;
};

VSIM_ON_DEVICE std::uint32_t bitsOf(float value) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
VSIM_ON_DEVICE float floatOf(std::uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

VSIM_ON_DEVICE float toFloat(float value) { return value; }
VSIM_ON_DEVICE float toFloat(Bf16 value) { return floatOf(static_cast<std::uint32_t>(value.bits) << 16U); }

#ifdef __CUDACC__
VSIM_ON_DEVICE float toFloat(Fp16 value) { return __half2float(__ushort_as_half(value.bits)); }
VSIM_ON_DEVICE void fromFloat(float value, Bf16& out) {
  out.bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
}
VSIM_ON_DEVICE void fromFloat(float value, Fp16& out) { out.bits = __half_as_ushort(__float2half_rn(value)); }
#else
inline float toFloat(Fp16 value) {
  const std::uint32_t sign = (value.bits & 0x8000U) << 16U, exponent = (value.bits >> 10U) & 31U;
  const std::uint32_t fraction = value.bits & 0x3ffU;
  if (exponent == 31) return floatOf(sign | 0x7f800000U | (fraction << 13U));
  if (exponent != 0) return floatOf(sign | ((exponent + 112U) << 23U) | (fraction << 13U));
  const float small = static_cast<float>(fraction) * 0x1p-24F;
  return sign != 0 ? -small : small;
}
inline void fromFloat(float value, Bf16& out) {
  const std::uint32_t bits = bitsOf(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U)
    out.bits = static_cast<std::uint16_t>((bits >> 16U) | 0x40U);  // not a number, and quiet
  else
    out.bits = static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}
inline void fromFloat(float value, Fp16& out) {
  const std::uint32_t bits = bitsOf(value), size = bits & 0x7fffffffU;
  const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
  if (size > 0x7f800000U) {
    out.bits = static_cast<std::uint16_t>(sign | 0x7e00U);
  } else if (size >= 0x477ff000U) {  // 65,520: rounds beyond the largest
    out.bits = static_cast<std::uint16_t>(sign | 0x7c00U);
  } else if (size < 0x38800000U) {  // below 2^-14: the sum rounds to a multiple of 2^-24
    const float sum = floatOf(size) + 0.5F;
    out.bits = static_cast<std::uint16_t>(sign | (bitsOf(sum) - 0x3f000000U));
  } else {
    const std::uint32_t rounded = size + 0xfffU + ((size >> 13U) & 1U) - 0x38000000U;
    out.bits = static_cast<std::uint16_t>(sign | (rounded >> 13U));
  }
}
#endif

VSIM_ON_DEVICE void fromFloat(float value, float& out) { out = value; }
VSIM_ON_DEVICE void fromFloat(float value, Fp8& out) {
  const std::uint32_t bits = bitsOf(value), size = bits & 0x7fffffffU;
  const std::uint32_t sign = (bits >> 24U) & 0x80U;
  std::uint32_t code = 0;
  if (size > 0x7f800000U)
    code = 0x7fU;
  else if (size >= 0x43e80000U)  // 464: halfway to a value that is not there; saturates
    code = 0x7eU;
  else if (size < 0x3c800000U)  // below 2^-6: the sum rounds to a multiple of 2^-9
    code = bitsOf(floatOf(size) + 16384.0F) - 0x46800000U;
  else
    code = (size + 0x7ffffU + ((size >> 20U) & 1U) - 0x3c000000U) >> 20U;
  out.bits = static_cast<std::uint8_t>(sign | (code > 0x7fU ? 0x7eU : code));
}

/// N elements that are read or written at once.
template <class T, int N>
struct Pack {
  T at[N];
};

template <int Bytes>
struct Word;
template <>
struct Word<1> {
  using Type = std::uint8_t;
};
template <>
struct Word<2> {
  using Type = std::uint16_t;
};
template <>
struct Word<4> {
  using Type = unsigned int;
};
template <>
struct Word<8> {
  using Type = uint2;
};
template <>
struct Word<16> {
  using Type = uint4;
};

/// `from` is aligned to the bytes of the pack.
template <int N, class T>
VSIM_ON_DEVICE Pack<T, N> loadPack(const T* from) {
  using Access = typename Word<static_cast<int>(sizeof(T)) * N>::Type;
  const Access word = *reinterpret_cast<const Access*>(from);
  Pack<T, N> pack;
  memcpy(&pack, &word, sizeof pack);
  return pack;
}
template <int N, class T>
VSIM_ON_DEVICE void storePack(T* to, const Pack<T, N>& pack) {
  using Access = typename Word<static_cast<int>(sizeof(T)) * N>::Type;
  Access word;
  memcpy(&word, &pack, sizeof word);
  *reinterpret_cast<Access*>(to) = word;
}

}  // namespace vsim::gpu::cuda
