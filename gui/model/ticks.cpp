#include "gui/model/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/units.h"

namespace vsim::gui {
namespace {

/// The smallest of 1, 2, 5 times a power of ten that is at least `rough`.
double niceStep(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::string trimmed(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

Ticks linearTicks(double low, double high, int most) {
  if (high < low) std::swap(low, high);
  if (!(high - low > 1e-12 * std::max(std::abs(low), std::abs(high)))) {
    const double room = low == 0 ? 1 : std::abs(low) * 0.1;
    low -= low > 0 ? std::min(room, low) : room;
    high += room;
  }
  const double step = niceStep((high - low) / std::max(1, most - 1));
  Ticks ticks;
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  for (double i = first; i <= last + 0.5; ++i) ticks.marks.push_back({i * step, tickLabel(i * step)});
  ticks.low = std::min(low, ticks.marks.front().value);
  ticks.high = std::max(high, ticks.marks.back().value);
  return ticks;
}

Ticks logTicks(double low, double high, int most) {
  if (high < low) std::swap(low, high);
  const double first = std::floor(std::log10(low) + 1e-9), last = std::ceil(std::log10(high) - 1e-9);
  const double decades = std::max(1.0, last - first);
  Ticks ticks;
  ticks.scale = AxisScale::logarithmic;
  const bool between = decades * 3 + 1 <= most;
  const double stride = std::max(1.0, std::ceil(decades / std::max(1, most - 1)));
  for (double decade = first; decade <= first + decades + stride - 1; decade += stride)
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && !between) break;
      const double value = factor * std::pow(10, decade);
      ticks.marks.push_back({value, tickLabel(value)});
    }
  // Marks far outside the data only waste room.
  while (ticks.marks.size() > 2 && ticks.marks[1].value <= low * (1 + 1e-9))
    ticks.marks.erase(ticks.marks.begin());
  while (ticks.marks.size() > 2 && ticks.marks[ticks.marks.size() - 2].value >= high * (1 - 1e-9))
    ticks.marks.pop_back();
  ticks.low = std::min(low, ticks.marks.front().value);
  ticks.high = std::max(high, ticks.marks.back().value);
  return ticks;
}

}  // namespace

double Ticks::place(double value) const {
  if (scale == AxisScale::logarithmic) return value > 0 ? std::log(value / low) / std::log(high / low) : 0;
  return (value - low) / (high - low);
}

Ticks niceTicks(double low, double high, int most, AxisScale scale) {
  if (!std::isfinite(low)) low = 0;
  if (!std::isfinite(high)) high = 0;
  const bool logarithmic = scale == AxisScale::logarithmic && std::min(low, high) > 0;
  return logarithmic ? logTicks(low, high, std::max(2, most)) : linearTicks(low, high, std::max(2, most));
}

std::string tickLabel(double value) {
  const double size = std::abs(value);
  if (size < 1e-12) return "0";
  if (size >= 1e12) return fmt::format("{:g}", value);
  if (size >= 1e9) return trimmed(fmt::format("{:.3f}", value * 1e-9)) + " G";
  if (size >= 1e6) return trimmed(fmt::format("{:.3f}", value * 1e-6)) + " M";
  if (size >= 1e3 && std::abs(value - std::round(value)) < 1e-6)
    return core::formatCount(std::llround(value));
  if (size >= 1e-3) return trimmed(fmt::format("{:.6f}", value));
  return fmt::format("{:g}", value);
}

}  // namespace vsim::gui
