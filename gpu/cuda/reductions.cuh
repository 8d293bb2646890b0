#pragma once

// Kernels that add up: sums over a block, over a row of scores, over a whole buffer.

#include "gpu/cuda/launch_plan.h"
#include "gpu/cuda/numbers.cuh"

namespace vsim::gpu::cuda {

struct Sum {
  VSIM_ON_DEVICE static float of(float a, float b) { return a + b; }
};
struct Most {
  VSIM_ON_DEVICE static float of(float a, float b) { return fmaxf(a, b); }
};

template <class Operation>
VSIM_ON_DEVICE float overWarp(float value) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2)
    value = Operation::of(value, __shfl_xor_sync(0xffffffffU, value, distance));
  return value;
}

/// The same in all threads of the block; `shared`: kThreads / kLanes floats. In the same order every time.
template <class Operation>
VSIM_ON_DEVICE float overBlock(float value, float* shared) {
  constexpr int kWarps = kThreads / kLanes;
  value = overWarp<Operation>(value);
  __syncthreads();  // what was read from `shared` before is read
  if (threadIdx.x % kLanes == 0) shared[threadIdx.x / kLanes] = value;
  __syncthreads();
  float result = shared[0];
  for (int warp = 1; warp < kWarps; ++warp) result = Operation::of(result, shared[warp]);
  return result;
}

/// Adds the sum of squares to *sum. `partials`: a float a block; `done`: zero before and after. The last
/// block to finish adds the partial sums in their order, so that the result is the same every time.
template <int kWidth, class T>
__global__ void __launch_bounds__(kThreads)
    squaredNormKernel(const T* x, PackPlan plan, std::int64_t elements, float* partials, unsigned int* done,
                      float* sum) {
  constexpr int kUnroll = 4;
  __shared__ float shared[kThreads / kLanes];
  __shared__ bool last;
  float own[kUnroll] = {};
  const std::int64_t stride = gridDim.x * std::int64_t{kThreads};
  const std::int64_t thread = blockIdx.x * std::int64_t{kThreads} + threadIdx.x;
  for (std::int64_t begin = thread; begin < plan.packs; begin += stride * kUnroll) {
    Pack<T, kWidth> in[kUnroll];
    VSIM_UNROLL
    for (int u = 0; u < kUnroll; ++u)
      if (begin + stride * u < plan.packs)
        in[u] = loadPack<kWidth>(x + plan.head + (begin + stride * u) * kWidth);
    VSIM_UNROLL
    for (int u = 0; u < kUnroll; ++u)
      if (begin + stride * u < plan.packs)
        for (int n = 0; n < kWidth; ++n) own[u] += toFloat(in[u].at[n]) * toFloat(in[u].at[n]);
  }
  const std::int64_t edges = elements - plan.packs * kWidth;
  if (thread < edges) {
    const float value = toFloat(x[thread < plan.head ? thread : thread + plan.packs * kWidth]);
    own[0] += value * value;
  }
  const float ofBlock = overBlock<Sum>((own[0] + own[1]) + (own[2] + own[3]), shared);
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = ofBlock;
    __threadfence();
    last = atomicAdd(done, 1U) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  float all = 0;
  for (unsigned int block = threadIdx.x; block < gridDim.x; block += kThreads)
    all += static_cast<volatile float*>(partials)[block];
  all = overBlock<Sum>(all, shared);
  if (threadIdx.x == 0) {
    *sum += all;
    *done = 0;
  }
}

/// Which keys one query sees: [begin, end).
struct VisibleKeys {
  std::int64_t begin, end;
};
VSIM_ON_DEVICE VisibleKeys visibleKeys(std::int64_t position, std::int64_t columns, std::int64_t window,
                                       bool causal) {
  VisibleKeys keys{0, columns};
  if (causal && position + 1 < columns) keys.end = position + 1;
  if (window > 0 && position - window + 1 > 0) keys.begin = position - window + 1;
  if (window > 0 && position + window < keys.end) keys.end = position + window;
  if (keys.begin > keys.end) keys.begin = keys.end;
  return keys;
}

/// Sizes of a softmax; row r of a unit is query (firstRow + r) % sequence.
struct SoftmaxShape {
  std::int64_t rows, columns, pitch, firstRow, sequence, window;
  float scale;
  bool causal;
};

/// Scores become probabilities; masked ones zero. One block a row.
template <class T>
__global__ void __launch_bounds__(kThreads) softmaxKernel(T* scores, SoftmaxShape shape) {
  __shared__ float shared[kThreads / kLanes];
  T* const row = scores + blockIdx.x * shape.pitch;
  const std::int64_t position = (shape.firstRow + blockIdx.x % shape.rows) % shape.sequence;
  const VisibleKeys keys = visibleKeys(position, shape.columns, shape.window, shape.causal);
  float most = -INFINITY, sum = 0;
  for (std::int64_t i = keys.begin + threadIdx.x; i < keys.end; i += kThreads) {
    const float score = toFloat(row[i]) * shape.scale;
    if (score > most) {
      sum = sum * expf(most - score) + 1.0F;
      most = score;
    } else {
      sum += expf(score - most);
    }
  }
  const float mostOfRow = overBlock<Most>(most, shared);
  sum = overBlock<Sum>(most == -INFINITY ? 0.0F : sum * expf(most - mostOfRow), shared);
  const float factor = 1.0F / sum;
  for (std::int64_t i = threadIdx.x; i < shape.columns; i += kThreads) {
    const bool seen = i >= keys.begin && i < keys.end;
    fromFloat(seen ? expf(toFloat(row[i]) * shape.scale - mostOfRow) * factor : 0.0F, row[i]);
  }
}

/// Gradients of probabilities become those of the scores: p (g - sum of p g) scale. One block a row.
template <class T>
__global__ void __launch_bounds__(kThreads)
    softmaxGradientKernel(const T* probabilities, T* gradients, SoftmaxShape shape) {
  __shared__ float shared[kThreads / kLanes];
  const T* const p = probabilities + blockIdx.x * shape.pitch;
  T* const g = gradients + blockIdx.x * shape.pitch;
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < shape.columns; i += kThreads) sum += toFloat(p[i]) * toFloat(g[i]);
  sum = overBlock<Sum>(sum, shared);
  for (std::int64_t i = threadIdx.x; i < shape.columns; i += kThreads)
    fromFloat(toFloat(p[i]) * (toFloat(g[i]) - sum) * shape.scale, g[i]);
}

}  // namespace vsim::gpu::cuda
