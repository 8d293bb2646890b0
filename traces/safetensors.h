#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/error.h"

namespace vsim::traces {

class InputFile;

/// A tensor in a safetensors file: bytes [begin, end) of the data that follow the header.
struct SafetensorsEntry {
  std::string name;
  core::DType dtype = core::DType::fp32;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0, end = 0;
};

/// What stands before the data: eight bytes of length (little-endian), then JSON.
/// Source: the format description of github.com/huggingface/safetensors.
struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::map<std::string, SafetensorsEntry> entries;
  std::int64_t dataBegin = 0;  // in the file, bytes
};

/// Headers of this size and more are refused, as the format's own reader does above it.
inline constexpr std::int64_t kLargestSafetensorsHeader = 100'000'000;

/// "F32", "BF16", "F16", "F8_E4M3", "I64", "I32", "U8".
[[nodiscard]] std::string_view safetensorsName(core::DType type);
[[nodiscard]] std::optional<core::DType> dtypeFromSafetensors(std::string_view name);

/// The bytes before the data of a file with these entries, their data one after the other in this order,
/// padded with spaces to a multiple of eight. Errors: names that are not UTF-8, a header too large.
[[nodiscard]] core::Result<std::string> safetensorsHeader(std::span<const SafetensorsEntry> entries,
                                                          const std::map<std::string, std::string>& metadata);

/// Errors name the file: too short, a length that the file does not have or that is too large, JSON of
/// another form, unknown dtypes, sizes that are no sizes, ranges that do not fit their shapes, overlap, leave
/// holes or do not end with the file.
[[nodiscard]] core::Result<SafetensorsHeader> readSafetensorsHeader(const InputFile& file);

}  // namespace vsim::traces
