#pragma once

// 8-bit codes with one scale a block of elements. A warp works on a quantization block at a time.

#include "gpu/cuda/reductions.cuh"

namespace vsim::gpu::cuda {

/// The elements of quantization block `index`.
struct QuantizationBlock {
  std::int64_t begin, count;
};
VSIM_ON_DEVICE QuantizationBlock quantizationBlock(std::int64_t index, std::int64_t block,
                                                   std::int64_t elements) {
  const std::int64_t begin = index * block, left = elements - begin;
  return {begin, left < block ? left : block};
}

/// Nearest code, ties to even, of a value that is at most 127 scales; 0 where all values are zero.
VSIM_ON_DEVICE std::int8_t codeOf(float value, float scale) {
  if (!(scale > 0.0F)) return 0;
  const float code = rintf(value / scale);
  return static_cast<std::int8_t>(fminf(fmaxf(code, -127.0F), 127.0F));
}

/// kWidth: 4 where blocks and pointers are aligned for it, else 1.
template <int kWidth>
__global__ void __launch_bounds__(kThreads)
    quantizeKernel(const float* values, std::int8_t* codes, float* scales, std::int64_t elements,
                   std::int64_t block) {
  constexpr int kHeld =
      8;  // packs of a lane that stay in registers: blocks up to 1,024 elements are read once
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t blocks = ceilDivide(elements, block),
                     warps = gridDim.x * std::int64_t{kThreads / kLanes};
  for (std::int64_t index = (blockIdx.x * std::int64_t{kThreads} + threadIdx.x) / kLanes; index < blocks;
       index += warps) {
    const QuantizationBlock own = quantizationBlock(index, block, elements);
    const float* const from = values + own.begin;
    const std::int64_t packs = own.count / kWidth;  // the last block's rest is done by single elements
    Pack<float, kWidth> held[kHeld];
    float most = 0;
    VSIM_UNROLL
    for (int h = 0; h < kHeld; ++h) {
      const std::int64_t pack = lane + std::int64_t{kLanes} * h;
      if (pack < packs) held[h] = loadPack<kWidth>(from + pack * kWidth);
    }
    VSIM_UNROLL
    for (int h = 0; h < kHeld; ++h)
      if (lane + std::int64_t{kLanes} * h < packs)
        for (int n = 0; n < kWidth; ++n) most = fmaxf(most, fabsf(held[h].at[n]));
    for (std::int64_t pack = lane + std::int64_t{kLanes} * kHeld; pack < packs; pack += kLanes) {
      const Pack<float, kWidth> in = loadPack<kWidth>(from + pack * kWidth);
      for (int n = 0; n < kWidth; ++n) most = fmaxf(most, fabsf(in.at[n]));
    }
    for (std::int64_t i = packs * kWidth + lane; i < own.count; i += kLanes)
      most = fmaxf(most, fabsf(from[i]));
    const float scale = overWarp<Most>(most) / 127.0F;
    if (lane == 0) scales[index] = scale;
    const auto store = [&](std::int64_t pack, const Pack<float, kWidth>& in) {
      Pack<std::int8_t, kWidth> out;
      for (int n = 0; n < kWidth; ++n) out.at[n] = codeOf(in.at[n], scale);
      storePack<kWidth>(codes + own.begin + pack * kWidth, out);
    };
    VSIM_UNROLL
    for (int h = 0; h < kHeld; ++h)
      if (lane + std::int64_t{kLanes} * h < packs) store(lane + std::int64_t{kLanes} * h, held[h]);
    for (std::int64_t pack = lane + std::int64_t{kLanes} * kHeld; pack < packs; pack += kLanes)
      store(pack, loadPack<kWidth>(from + pack * kWidth));
    for (std::int64_t i = packs * kWidth + lane; i < own.count; i += kLanes)
      codes[own.begin + i] = codeOf(from[i], scale);
  }
}

template <int kWidth>
__global__ void __launch_bounds__(kThreads)
    dequantizeKernel(const std::int8_t* codes, const float* scales, float* values, std::int64_t elements,
                     std::int64_t block) {
  constexpr int kUnroll = 4;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t blocks = ceilDivide(elements, block),
                     warps = gridDim.x * std::int64_t{kThreads / kLanes};
  for (std::int64_t index = (blockIdx.x * std::int64_t{kThreads} + threadIdx.x) / kLanes; index < blocks;
       index += warps) {
    const QuantizationBlock own = quantizationBlock(index, block, elements);
    const std::int64_t packs = own.count / kWidth;
    const float scale = scales[index];
    for (std::int64_t begin = lane; begin < packs; begin += std::int64_t{kLanes} * kUnroll) {
      Pack<std::int8_t, kWidth> in[kUnroll];
      VSIM_UNROLL
      for (int u = 0; u < kUnroll; ++u)
        if (begin + std::int64_t{kLanes} * u < packs)
          in[u] = loadPack<kWidth>(codes + own.begin + (begin + std::int64_t{kLanes} * u) * kWidth);
      VSIM_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        Pack<float, kWidth> out;
        for (int n = 0; n < kWidth; ++n) out.at[n] = static_cast<float>(in[u].at[n]) * scale;
        if (begin + std::int64_t{kLanes} * u < packs)
          storePack<kWidth>(values + own.begin + (begin + std::int64_t{kLanes} * u) * kWidth, out);
      }
    }
    for (std::int64_t i = packs * kWidth + lane; i < own.count; i += kLanes)
      values[own.begin + i] = static_cast<float>(codes[own.begin + i]) * scale;
  }
}

}  // namespace vsim::gpu::cuda
