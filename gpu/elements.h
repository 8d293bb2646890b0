#pragma once

#include <cstdint>
#include <span>

#include "core/base/dtype.h"

namespace vsim::gpu {

/// Element `index` of an array in memory that holds `type` (fp32, bf16, fp16), as a float.
[[nodiscard]] float loadElement(core::DType type, const void* array, std::int64_t index);
/// Rounds `value` as the type rounds (rounding.h) and keeps it there.
void storeElement(core::DType type, void* array, std::int64_t index, float value);

/// The first values of such an array.
void loadElements(core::DType type, const void* array, std::span<float> values);

}  // namespace vsim::gpu
