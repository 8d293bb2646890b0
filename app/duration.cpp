#include "app/duration.h"

#include <charconv>
#include <cmath>

namespace vsim::app {

core::Result<double> parseDuration(std::string_view text) {
  constexpr double kMost = 30 * 86'400.0;
  constexpr const char* kHint = "a number of seconds, or with a unit: 90s, 10m, 1h";
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const double factor = unit.empty() || unit == "s"    ? 1
                        : unit == "m" || unit == "min" ? 60
                        : unit == "h"                  ? 3600
                                                       : 0;
  if (code != std::errc() || factor == 0)
    return core::fail(fmt::format("\"{:.40}\" is no duration", text), kHint);
  const double seconds = value * factor;
  if (!(seconds > 0)) return core::fail(fmt::format("\"{:.40}\": a duration is above 0", text), kHint);
  if (seconds > kMost) return core::fail(fmt::format("\"{:.40}\" is more than 30 days", text), kHint);
  return seconds;
}

std::string durationText(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600)
    return whole % 60 == 0 ? fmt::format("{} min", whole / 60)
                           : fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace vsim::app
