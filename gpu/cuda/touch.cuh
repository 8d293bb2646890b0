#pragma once

// Memory traffic without work: what an operation that is bound by bandwidth costs.

#include "gpu/cuda/launch_plan.h"
#include "gpu/cuda/numbers.cuh"

namespace vsim::gpu::cuda {

/// Two bf16 numbers in [0.5, 1) or (-1, -0.5] whose signs and fractions follow from `seed`.
VSIM_ON_DEVICE unsigned int pairOf(unsigned int seed) {
  unsigned int bits = seed * 2654435761U;  // Knuth's multiplicative hash
  bits ^= bits >> 15U;
  return 0x3f003f00U | (bits & 0x807f807fU);
}

/// Reads and writes packs of 16 bytes as planTouch says: in rounds over the two memories. Writes what was
/// read at the same place of the round, else numbers that follow from the place. `keep`: false, which the
/// compiler must not know, or it would leave out reads that nobody uses.
static __global__ void __launch_bounds__(kThreads)
    touchKernel(const uint4* source, uint4* target, TouchPlan plan, bool keep) {
  constexpr int kUnroll = 4;
  const std::int64_t stride = gridDim.x * std::int64_t{kThreads};
  const std::int64_t thread = blockIdx.x * std::int64_t{kThreads} + threadIdx.x;
  const auto number = static_cast<unsigned int>(4 * thread);
  const uint4 own{pairOf(number), pairOf(number + 1), pairOf(number + 2), pairOf(number + 3)};
  unsigned int seen = 0;
  std::int64_t reads = plan.reads, writes = plan.writes;
  while (reads > 0 || writes > 0) {
    const std::int64_t readNow = reads < plan.readLength ? reads : plan.readLength;
    const std::int64_t writeNow = writes < plan.writeLength ? writes : plan.writeLength;
    const std::int64_t longer = readNow > writeNow ? readNow : writeNow;
    for (std::int64_t begin = thread; begin < longer; begin += stride * kUnroll) {
      uint4 pack[kUnroll];
      VSIM_UNROLL
      for (int u = 0; u < kUnroll; ++u)
        pack[u] = begin + stride * u < readNow ? source[begin + stride * u] : own;
      VSIM_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        seen |= pack[u].x & pack[u].y & pack[u].z & pack[u].w;
        if (begin + stride * u < writeNow) target[begin + stride * u] = pack[u];
      }
    }
    reads -= readNow;
    writes -= writeNow;
  }
  if (keep) target[0].x = seen;
}

}  // namespace vsim::gpu::cuda
