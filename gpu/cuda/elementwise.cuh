#pragma once

// Kernels that treat each element alone: one loop, and what to do with a pack of elements.

#include "gpu/cuda/launch_plan.h"
#include "gpu/cuda/numbers.cuh"
#include "gpu/synthetic_value.h"

namespace vsim::gpu::cuda {

/// Reads kUnroll packs before it writes any, so that enough bytes are under way. A body's pack is as wide as
/// its 16 bytes allow; Body::kWidth elements, or one where the operands are not aligned alike.
template <int kWidth, class Body>
__global__ void __launch_bounds__(kThreads)
    elementwiseKernel(Body body, PackPlan plan, std::int64_t elements) {
  constexpr int kUnroll = Body::kUnroll;
  constexpr std::int64_t kOfBlock = std::int64_t{kThreads} * kUnroll;
  for (std::int64_t begin = blockIdx.x * kOfBlock; begin < plan.packs; begin += gridDim.x * kOfBlock) {
    typename Body::template Input<kWidth> inputs[kUnroll];
    VSIM_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t pack = begin + u * kThreads + threadIdx.x;
      if (pack < plan.packs) body.template load<kWidth>(plan.head + pack * kWidth, inputs[u]);
    }
    VSIM_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t pack = begin + u * kThreads + threadIdx.x;
      if (pack < plan.packs) body.template store<kWidth>(plan.head + pack * kWidth, inputs[u]);
    }
  }
  // The few elements before the first pack and behind the last: fewer than two packs.
  const std::int64_t edges = elements - plan.packs * kWidth;
  if (blockIdx.x == 0 && threadIdx.x < edges) {
    const std::int64_t edge = threadIdx.x;
    const std::int64_t element = edge < plan.head ? edge : edge + plan.packs * kWidth;
    typename Body::template Input<1> input;
    body.template load<1>(element, input);
    body.template store<1>(element, input);
  }
}

template <class X, class Y>
struct CastBody {
  static constexpr int kWidth =
      static_cast<int>(kPackBytes / (sizeof(X) > sizeof(Y) ? sizeof(X) : sizeof(Y)));
  static constexpr int kUnroll = 4;
  template <int N>
  struct Input {
    Pack<X, N> x;
    Pack<Y, N> y;
  };
  const X* x;
  Y* y;
  bool add;

  template <int N>
  VSIM_ON_DEVICE void load(std::int64_t i, Input<N>& in) const {
    in.x = loadPack<N>(x + i);
    if (add) in.y = loadPack<N>(y + i);
  }
  template <int N>
  VSIM_ON_DEVICE void store(std::int64_t i, Input<N>& in) const {
    Pack<Y, N> out;
    VSIM_UNROLL
    for (int n = 0; n < N; ++n)
      fromFloat(add ? toFloat(in.y.at[n]) + toFloat(in.x.at[n]) : toFloat(in.x.at[n]), out.at[n]);
    storePack<N>(y + i, out);
  }
};

/// x = x * factor, or where `norm` is given, the sum of squares of x, x / (sqrt(norm) + 1e-7) as Muon does.
template <class T>
struct ScaleBody {
  static constexpr int kWidth = static_cast<int>(kPackBytes / sizeof(T));
  static constexpr int kUnroll = 4;
  template <int N>
  struct Input {
    Pack<T, N> x;
  };
  T* x;
  float factor;
  const float* norm;

  template <int N>
  VSIM_ON_DEVICE void load(std::int64_t i, Input<N>& in) const {
    in.x = loadPack<N>(x + i);
  }
  template <int N>
  VSIM_ON_DEVICE void store(std::int64_t i, Input<N>& in) const {
    const float by = norm != nullptr ? 1.0F / (sqrtf(*norm) + 1e-7F) : factor;
    VSIM_UNROLL
    for (int n = 0; n < N; ++n) fromFloat(toFloat(in.x.at[n]) * by, in.x.at[n]);
    storePack<N>(x + i, in.x);
  }
};

template <class T>
struct FillBody {
  static constexpr int kWidth = static_cast<int>(kPackBytes / sizeof(T));
  static constexpr int kUnroll = 1;
  template <int N>
  struct Input {};
  T* x;
  std::uint64_t base;
  std::int64_t first;

  template <int N>
  VSIM_ON_DEVICE void load(std::int64_t, Input<N>&) const {}
  template <int N>
  VSIM_ON_DEVICE void store(std::int64_t i, Input<N>&) const {
    Pack<T, N> out;
    VSIM_UNROLL
    for (int n = 0; n < N; ++n) fromFloat(syntheticValue(base, first + i + n), out.at[n]);
    storePack<N>(x + i, out);
  }
};

/// What is the same for all elements of an AdamW step.
struct AdamWFactors {
  float decay, keepFirst, beta2, keepSecond, stepSize, correction2, epsilon;
};

/// The order of core::adamwStep's operations; compiled without contraction to fused multiply-adds, so that
/// host and device agree to the last bit.
template <class P, class G>
struct AdamWBody {
  static constexpr int kWidth = 4;
  static constexpr int kUnroll = 2;
  template <int N>
  struct Input {
    Pack<P, N> parameter;
    Pack<G, N> gradient;
    Pack<float, N> first, second;
  };
  P* parameters;
  const G* gradients;
  float *first, *second;
  AdamWFactors factors;

  template <int N>
  VSIM_ON_DEVICE void load(std::int64_t i, Input<N>& in) const {
    in.parameter = loadPack<N>(parameters + i);
    in.gradient = loadPack<N>(gradients + i);
    in.first = loadPack<N>(first + i);
    in.second = loadPack<N>(second + i);
  }
  template <int N>
  VSIM_ON_DEVICE void store(std::int64_t i, Input<N>& in) const {
    VSIM_UNROLL
    for (int n = 0; n < N; ++n) {
      const float g = toFloat(in.gradient.at[n]);
      float p = toFloat(in.parameter.at[n]), m = in.first.at[n], v = in.second.at[n];
      p *= factors.decay;
      m += (g - m) * factors.keepFirst;
      v = v * factors.beta2 + factors.keepSecond * g * g;
      const float denominator = sqrtf(v) / factors.correction2 + factors.epsilon;
      p -= factors.stepSize * m / denominator;
      fromFloat(p, in.parameter.at[n]);
      in.first.at[n] = m;
      in.second.at[n] = v;
    }
    storePack<N>(parameters + i, in.parameter);
    storePack<N>(first + i, in.first);
    storePack<N>(second + i, in.second);
  }
};

}  // namespace vsim::gpu::cuda
