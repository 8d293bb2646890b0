#pragma once

#include "core/base/dtype.h"

namespace vsim::gpu {

/// The value that storage of `type` keeps of `value`, as a float: rounded to nearest, ties to even (IEEE
/// 754). fp32: unchanged. bf16: 8 bits of significand; fp16: 11, with subnormals below 2^-14 and infinity
/// from 65,520 on. Other types are not rounded: isFloating() is false for them.
[[nodiscard]] float roundTo(core::DType type, float value);
/// Types that the host executor computes in.
[[nodiscard]] bool isFloating(core::DType type);

}  // namespace vsim::gpu
