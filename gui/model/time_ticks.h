#pragma once

#include <string>
#include <vector>

#include "gui/model/time_axis.h"

namespace vsim::gui {

/// In what times are shown. `automatic`: what suits the zoom; `percent`: of a step.
enum class TimeUnit : std::uint8_t { automatic, nanoseconds, microseconds, milliseconds, percent };
inline constexpr std::string_view kTimeUnitNames[] = {"automatic", "ns", "us", "ms", "% of step"};

struct TimeTick {
  core::Picoseconds time = 0;
  std::string label;
};

/// Ticks at round times, at least `leastPixels` apart. `step`: what 0 % and 100 % are.
[[nodiscard]] std::vector<TimeTick> timeTicks(const TimeAxis& axis, TimeUnit unit, TimeRange step,
                                              int leastPixels = 110);
/// A length of time in the unit: "1.234 ms", "12.3 %".
[[nodiscard]] std::string lengthText(core::Picoseconds length, TimeUnit unit, TimeRange step);

}  // namespace vsim::gui
