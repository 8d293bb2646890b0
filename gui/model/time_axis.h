#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "gui/model/opened_run.h"

namespace vsim::gui {

/// Maps a range of time to pixel columns 0 .. width - 1 and back. Plain value; a column is half open.
struct TimeAxis {
  TimeRange view;
  int width = 1;  // at least 1

  /// Column boundary number x (0 .. width) in time. Exact at both ends, monotone.
  [[nodiscard]] core::Picoseconds boundary(int x) const {
    // length * x / width without leaving 64 bits.
    const core::Picoseconds columns = std::max(1, width), whole = view.length() / columns;
    return view.begin + whole * x + (view.length() - whole * columns) * x / columns;
  }
  /// The column that holds `time`: the largest x with boundary(x) <= time. Outside the view: negative, or
  /// width and more.
  [[nodiscard]] double toX(core::Picoseconds time) const {
    if (view.empty()) return 0;
    return static_cast<double>(time - view.begin) * width / static_cast<double>(view.length());
  }
  [[nodiscard]] core::Picoseconds toTime(double x) const {
    return view.begin + static_cast<core::Picoseconds>(
                            std::llround(x / std::max(1, width) * static_cast<double>(view.length())));
  }
};

inline constexpr core::Picoseconds kShortestView = 1000;  // 1 ns across the window

/// `factor` < 1 zooms in; the time under column x stays there. Clipped to `whole` widened by half on both
/// sides.
[[nodiscard]] TimeRange zoomed(const TimeAxis& axis, double x, double factor, TimeRange whole);
/// Moved by `pixels` columns, clipped in the same way.
[[nodiscard]] TimeRange panned(const TimeAxis& axis, double pixels, TimeRange whole);

}  // namespace vsim::gui
