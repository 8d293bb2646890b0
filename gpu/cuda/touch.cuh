#pragma once

// Memory traffic without work: what an operation that is bound by bandwidth costs.

#include "gpu/cuda/launch_plan.h"
#include "gpu/cuda/numbers.cuh"

namespace vsim::gpu::cuda {

/// Reads and writes packs of 16 bytes as planTouch says: in rounds over the two parts of the scratch memory.
/// `keep`: false, which the compiler must not know, or it would leave out reads that nobody uses.
static __global__ void __launch_bounds__(kThreads) touchKernel(uint4* scratch, TouchPlan plan, bool keep) {
  constexpr int kUnroll = 4;
  const std::int64_t stride = gridDim.x * std::int64_t{kThreads};
  const std::int64_t thread = blockIdx.x * std::int64_t{kThreads} + threadIdx.x;
  unsigned int seen = 0;
  std::int64_t reads = plan.reads, writes = plan.writes;
  while (reads > 0 || writes > 0) {
    const std::int64_t readNow = reads < plan.readLength ? reads : plan.readLength;
    const std::int64_t writeNow = writes < plan.writeLength ? writes : plan.writeLength;
    const std::int64_t longer = readNow > writeNow ? readNow : writeNow;
    for (std::int64_t begin = thread; begin < longer; begin += stride * kUnroll) {
      uint4 in[kUnroll] = {};
      VSIM_UNROLL
      for (int u = 0; u < kUnroll; ++u)
        if (begin + stride * u < readNow) in[u] = scratch[begin + stride * u];
      VSIM_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        seen |= in[u].x & in[u].y & in[u].z & in[u].w;
        if (begin + stride * u < writeNow)
          scratch[plan.writeBegin + begin + stride * u] = uint4{seen, 0, 0, 0};
      }
    }
    reads -= readNow;
    writes -= writeNow;
  }
  if (keep) scratch[0].x = seen;
}

}  // namespace vsim::gpu::cuda
