#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace vsim::core {

/// Simulated time in integral picoseconds, so that runs are reproducible to the last byte. 2^63 ps = 106
/// days.
using Picoseconds = std::int64_t;
/// A size in bytes.
using Bytes = std::int64_t;
/// Floating point operations; a multiply-add counts two. A double: a step of a large job exceeds 2^63.
using Flops = double;

inline constexpr Picoseconds kPicosecondsPerSecond = 1'000'000'000'000;
inline constexpr Picoseconds kPicosecondsPerMicrosecond = 1'000'000;

/// Seconds to picoseconds, rounded to nearest, saturated at the largest representable time.
constexpr Picoseconds picosecondsFromSeconds(double seconds) {
  const double value = seconds * 1e12;
  if (!(value < 9.2e18)) return std::numeric_limits<Picoseconds>::max();
  return value <= 0 ? 0 : static_cast<Picoseconds>(value + 0.5);
}
constexpr Picoseconds picosecondsFromMicroseconds(double us) { return picosecondsFromSeconds(us * 1e-6); }
constexpr double secondsFromPicoseconds(Picoseconds ps) { return static_cast<double>(ps) * 1e-12; }

/// "80.00 GiB", "1.50 KiB", "512 B": binary prefixes, two decimals.
std::string formatBytes(Bytes bytes);
/// "12.34 ms", "1.234 s", "850 ns": three to four significant digits.
std::string formatTime(Picoseconds ps);
/// "8,030,261,248".
std::string formatCount(std::int64_t count);

}  // namespace vsim::core
