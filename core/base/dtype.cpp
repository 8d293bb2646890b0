#include "core/base/dtype.h"

namespace vsim::core {

std::string_view name(DType type) {
  switch (type) {
    case DType::fp32:
      return "fp32";
    case DType::bf16:
      return "bf16";
    case DType::fp16:
      return "fp16";
    case DType::fp8:
      return "fp8";
    case DType::int64:
      return "int64";
    case DType::int32:
      return "int32";
    case DType::uint8:
      return "uint8";
  }
  return "?";
}

std::optional<DType> dtypeFromName(std::string_view text) {
  if (text == "fp32" || text == "float32" || text == "float") return DType::fp32;
  if (text == "bf16" || text == "bfloat16") return DType::bf16;
  if (text == "fp16" || text == "float16" || text == "half") return DType::fp16;
  if (text == "fp8" || text == "float8" || text == "float8_e4m3fn" || text == "fp8_e4m3") return DType::fp8;
  if (text == "int64") return DType::int64;
  if (text == "int32") return DType::int32;
  if (text == "uint8") return DType::uint8;
  return std::nullopt;
}

}  // namespace vsim::core
