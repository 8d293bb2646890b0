#pragma once

#include <optional>
#include <string_view>

namespace vsim::core {

/// "43.71ms", "8.5 us", "1.2s" -> seconds; a bare number is refused by nullopt, as are signs of anything
/// else.
std::optional<double> secondsFromText(std::string_view text);
/// "145GB/s", "200Gb/s", "400 GiB/s" -> bytes per second.
std::optional<double> bytesPerSecondFromText(std::string_view text);
/// "6426160384", "6.43GB", "512MiB", "64k" -> bytes; b is bit and refused. Whole bytes below 2^62.
std::optional<double> bytesFromText(std::string_view text);

}  // namespace vsim::core
