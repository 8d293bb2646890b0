#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace vsim::traces {

/// `plain` compressed (zlib, with its checksum), behind `magic` and its length.
[[nodiscard]] std::string packBytes(std::string_view magic, std::string_view plain);

/// None: another magic, damaged, cut, or a length that the bytes cannot have. Never asks for more memory than
/// zlib's largest ratio allows.
[[nodiscard]] std::optional<std::string> unpackBytes(std::string_view magic, std::string_view packed);

}  // namespace vsim::traces
