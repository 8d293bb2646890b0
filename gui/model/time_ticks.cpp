#include "gui/model/time_ticks.h"

#include <fmt/format.h>

#include "gui/model/slice_details.h"

namespace vsim::gui {
namespace {

struct Scale {
  double perUnit = 1;  // picoseconds
  const char* name = "ps";
};

Scale scaleOf(TimeUnit unit, double spacing, TimeRange step) {
  constexpr Scale kNano{1e3, "ns"}, kMicro{1e6, "us"}, kMilli{1e9, "ms"}, kSecond{1e12, "s"};
  switch (unit) {
    case TimeUnit::nanoseconds:
      return kNano;
    case TimeUnit::microseconds:
      return kMicro;
    case TimeUnit::milliseconds:
      return kMilli;
    case TimeUnit::percent:
      return {static_cast<double>(std::max<core::Picoseconds>(1, step.length())) / 100, "%"};
    case TimeUnit::automatic:
      break;
  }
  if (spacing >= 1e12) return kSecond;
  return spacing >= 1e7 ? kMilli : spacing >= 1e4 ? kMicro : kNano;
}

/// The least of 1, 2, 5 times a power of ten that is not below `value`.
double roundUp(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace

std::vector<TimeTick> timeTicks(const TimeAxis& axis, TimeUnit unit, TimeRange step, int leastPixels) {
  std::vector<TimeTick> ticks;
  if (axis.view.empty() || axis.width < 1) return ticks;
  const double least = static_cast<double>(axis.view.length()) / axis.width * leastPixels;
  const Scale scale = scaleOf(unit, least, step);
  const double spacing = roundUp(least / scale.perUnit);  // in units
  const double zero = unit == TimeUnit::percent ? static_cast<double>(step.begin) : 0;
  const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(spacing) - 1e-9)));
  const double begin = (static_cast<double>(axis.view.begin) - zero) / scale.perUnit;
  const double end = (static_cast<double>(axis.view.end) - zero) / scale.perUnit;
  constexpr std::size_t kMost = 1000;
  for (double k = std::ceil(begin / spacing); k * spacing <= end && ticks.size() < kMost; ++k) {
    const double value = k == 0 ? 0 : k * spacing;  // no "-0"
    ticks.push_back({static_cast<core::Picoseconds>(std::llround(value * scale.perUnit + zero)),
                     fmt::format("{:.{}f} {}", value, digits, scale.name)});
  }
  return ticks;
}

std::string lengthText(core::Picoseconds length, TimeUnit unit, TimeRange step) {
  const auto value = static_cast<double>(length);
  switch (unit) {
    case TimeUnit::automatic:
      break;
    case TimeUnit::nanoseconds:
      return fmt::format("{:.3f} ns", value / 1e3);
    case TimeUnit::microseconds:
      return fmt::format("{:.3f} us", value / 1e6);
    case TimeUnit::milliseconds:
      return fmt::format("{:.4f} ms", value / 1e9);
    case TimeUnit::percent:
      return fmt::format("{:.2f} %",
                         100 * value / static_cast<double>(std::max<core::Picoseconds>(1, step.length())));
  }
  return timeText(length);
}

}  // namespace vsim::gui
