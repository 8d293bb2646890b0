#pragma once

// What the launching sources share: from run-time types to template arguments, and the launch itself.

#ifdef __CUDACC__
#include <cuda_runtime_api.h>
#endif

#include "core/base/dtype.h"
#include "gpu/cuda/elementwise.cuh"
#include "gpu/cuda/kernels.h"

namespace vsim::gpu::cuda {

template <class T>
struct TypeTag {
  using Type = T;
};

/// Calls `f` with the tag of a floating type: fp32, bf16 or fp16.
template <class F>
int withFloating(core::DType type, F&& f) {
  switch (type) {
    case core::DType::fp32:
      return f(TypeTag<float>{});
    case core::DType::bf16:
      return f(TypeTag<Bf16>{});
    case core::DType::fp16:
      return f(TypeTag<Fp16>{});
    default:
      return kUnsupportedTypes;
  }
}

#ifdef __CUDACC__
static_assert(kUnsupportedTypes == cudaErrorNotSupported && kInvalidValue == cudaErrorInvalidValue);

/// Launches `kernel` with blocks of kThreads threads.
template <class... Parameters, class... Arguments>
int launchKernel(const LaunchContext& context, std::int64_t blocks, void (*kernel)(Parameters...),
                 const Arguments&... arguments) {
  kernel<<<static_cast<unsigned int>(blocks), kThreads, 0, static_cast<cudaStream_t>(context.stream)>>>(
      arguments...);
  return cudaGetLastError();
}
#endif  // else the test that runs kernels on the host has its own

/// Blocks that fill the device once.
inline std::int64_t fullGrid(const LaunchContext& context, std::int64_t useful) {
  const std::int64_t full = context.processors * kBalancedBlocksPerProcessor;
  return std::clamp<std::int64_t>(useful, 1, full < 1 ? 1 : full);
}

template <class Body>
int launchElementwise(const LaunchContext& context, const Body& body, const PackPlan& plan,
                      std::int64_t elements) {
  const std::int64_t blocks = blocksFor(plan.packs, Body::kUnroll);
  if (plan.width == Body::kWidth)
    return launchKernel(context, blocks, &elementwiseKernel<Body::kWidth, Body>, body, plan, elements);
  return launchKernel(context, blocks, &elementwiseKernel<1, Body>, body, plan, elements);
}

}  // namespace vsim::gpu::cuda
