#pragma once

#include "gpu/device/api.h"

namespace vsim::test {

/// The data kernels of the Api on host memory, all operands already checked.
void copySegments(const gpu::device::CopyCall& call);
void cast(const void* x, core::DType xType, void* y, core::DType yType, std::int64_t elements, bool add);
void scale(void* x, core::DType type, std::int64_t elements, float factor);
void squaredNorm(const void* x, core::DType type, std::int64_t elements, float* sum);
void fillSynthetic(void* x, core::DType type, std::uint64_t base, std::int64_t first, std::int64_t elements);
void adamW(const gpu::device::AdamWCall& call);
void quantize(const gpu::device::QuantizeCall& call);
void dequantize(const gpu::device::QuantizeCall& call, float* values);

}  // namespace vsim::test
