#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace vsim::core {

/// "43.71ms", "8.5 us", "1.2s" -> seconds; a bare number is refused by nullopt, as are signs of anything
/// else.
std::optional<double> secondsFromText(std::string_view text);
/// "145GB/s", "200Gb/s", "400 GiB/s" -> bytes per second.
std::optional<double> bytesPerSecondFromText(std::string_view text);
/// "989TFLOP/s", "989 TFLOPS" -> floating-point operations per second.
std::optional<double> flopsPerSecondFromText(std::string_view text);
/// "1.98GHz", "1980 MHz" -> hertz.
std::optional<double> hertzFromText(std::string_view text);
/// "700W" -> watts.
std::optional<double> wattsFromText(std::string_view text);
/// "6426160384", "6.43GB", "512MiB", "64k" -> bytes; b is bit and refused. Whole bytes below 2^62.
std::optional<double> bytesFromText(std::string_view text);

/// The value with a unit, in as few digits (four at least) as the functions above read back to the last bit.
/// Finite values alone.
std::string secondsText(double seconds);
std::string bytesPerSecondText(double rate);
std::string flopsPerSecondText(double rate);
std::string hertzText(double hertz);
std::string wattsText(double watts);

}  // namespace vsim::core
