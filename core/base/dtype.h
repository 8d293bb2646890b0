#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vsim::core {

enum class DType : std::uint8_t { fp32, bf16, fp16, fp8, int64, int32, uint8 };

/// Bytes of one element.
constexpr std::int64_t bytesOf(DType type) {
  switch (type) {
    case DType::int64:
      return 8;
    case DType::fp32:
    case DType::int32:
      return 4;
    case DType::bf16:
    case DType::fp16:
      return 2;
    case DType::fp8:
    case DType::uint8:
      return 1;
  }
  return 0;
}
std::string_view name(DType type);
/// "fp32"/"float32", "bf16"/"bfloat16", "fp16"/"float16", "fp8"...; nullopt when unknown.
std::optional<DType> dtypeFromName(std::string_view name);

}  // namespace vsim::core
