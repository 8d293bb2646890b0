#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vsim::gui {

enum class AxisScale : std::uint8_t { linear, logarithmic };

/// A mark of an axis.
struct Tick {
  double value = 0;
  std::string label;
};

/// Marks of an axis and the range between the first and the last of them, which covers the data.
struct Ticks {
  double low = 0, high = 1;
  AxisScale scale = AxisScale::linear;  // linear also where logarithms were asked of values that have none
  std::vector<Tick> marks;              // 2 at least, rising
  /// Place of `value` on the axis: 0 at low, 1 at high.
  [[nodiscard]] double place(double value) const;
};

/// Marks at 1, 2 or 5 times a power of ten (logarithmic: at powers of ten, with 2 and 5 between them where
/// there is room), so that [low, high] is covered by at most about `most` marks. Empty and reversed ranges
/// are widened; values that are not finite count as 0.
[[nodiscard]] Ticks niceTicks(double low, double high, int most, AxisScale scale);

/// "10,240", "2.5", "3.2 M", "1e-7".
[[nodiscard]] std::string tickLabel(double value);

}  // namespace vsim::gui
