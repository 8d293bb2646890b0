#pragma once

#include <cstddef>

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
/// Fills with NaNs of every type.
void spoil(void* memory, std::size_t bytes);
/// Whether some of it (looked for here and there) was spoiled, or allocated and never written.
bool spoiled(const void* memory, std::size_t bytes);
void dequantize(const gpu::device::QuantizeCall& call, float* values);

}  // namespace vsim::test
