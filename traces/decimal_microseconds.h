#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vsim::traces {

/// A time as traces write it, split so that microseconds since 1970 keep their picoseconds: a double would
/// not.
struct SplitTime {
  std::int64_t microseconds = 0;
  std::int64_t picoseconds = 0;  // 0 to 999,999
};

/// Reads "12", "12.5", "1.2e3", "-3.25". Digits behind the sixth decimal are cut. Nothing: no number, or
/// beyond what 64 bits hold.
[[nodiscard]] inline std::optional<SplitTime> splitTime(std::string_view text) {
  constexpr double kMost = 9e17;
  if (text.find_first_of("eE") != std::string_view::npos) {
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || !(std::abs(value) < kMost))
      return std::nullopt;
    const double whole = std::floor(value);
    return SplitTime{static_cast<std::int64_t>(whole),
                     std::min<std::int64_t>(999'999, std::llround((value - whole) * 1e6))};
  }
  const bool negative = text.starts_with('-');
  const std::string_view digits = negative ? text.substr(1) : text;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  SplitTime time;
  const char* const wholeEnd = digits.data() + point;
  const auto [end, problem] = std::from_chars(digits.data(), wholeEnd, time.microseconds);
  if (problem != std::errc() || end != wholeEnd || time.microseconds < 0 ||
      static_cast<double>(time.microseconds) >= kMost)
    return std::nullopt;
  std::int64_t unit = 100'000;
  for (std::size_t i = point + 1; i < digits.size(); ++i, unit /= 10) {
    if (digits[i] < '0' || digits[i] > '9') return std::nullopt;
    time.picoseconds += unit * (digits[i] - '0');
  }
  if (negative) {
    time.microseconds = -time.microseconds;
    if (time.picoseconds > 0) time = {time.microseconds - 1, 1'000'000 - time.picoseconds};
  }
  return time;
}

}  // namespace vsim::traces
