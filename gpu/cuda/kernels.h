#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/dtype.h"
#include "gpu/cuda/attention_plan.h"
#include "gpu/device/api.h"

namespace vsim::gpu::cuda {

/// Launches of the kernels on the calling thread's device. Each returns the runtime's code (cudaError_t):
/// 0, or what was wrong with the launch; kUnsupportedTypes for types that a kernel is not made for. Nothing
/// is launched for no elements.
inline constexpr int kUnsupportedTypes = 801;  // cudaErrorNotSupported
inline constexpr int kInvalidValue = 1;        // cudaErrorInvalidValue

/// What launches need to know of the device.
struct LaunchContext {
  device::Stream stream = nullptr;
  int processors = 1;
};

/// Partial sums of a reduction: kReductionBlocks floats and a counter that is zero between launches.
struct ReductionScratch {
  float* partials = nullptr;
  unsigned int* done = nullptr;
};

int launchEmpty(const LaunchContext& context);
int launchTouch(const LaunchContext& context, const device::TouchCall& call);
int launchCopy(const LaunchContext& context, const device::CopyCall& call);
int launchCast(const LaunchContext& context, const void* x, core::DType xType, void* y, core::DType yType,
               std::int64_t elements, bool add);
/// `norm` not null: by 1 / (sqrt(*norm) + 1e-7) instead of `factor`.
int launchScale(const LaunchContext& context, void* x, core::DType type, std::int64_t elements, float factor,
                const float* norm = nullptr);
int launchSquaredNorm(const LaunchContext& context, const void* x, core::DType type, std::int64_t elements,
                      const ReductionScratch& scratch, float* sum);
int launchFillSynthetic(const LaunchContext& context, void* x, core::DType type, std::uint64_t base,
                        std::int64_t first, std::int64_t elements);
int launchAdamW(const LaunchContext& context, const device::AdamWCall& call);
int launchQuantize(const LaunchContext& context, const device::QuantizeCall& call);
int launchDequantize(const LaunchContext& context, const device::QuantizeCall& call, float* values);
int launchSoftmax(const LaunchContext& context, const SoftmaxCall& call);

}  // namespace vsim::gpu::cuda
