#include "gui/model/time_axis.h"

namespace vsim::gui {
namespace {

/// Keeps the length where possible, so that a pan stops at the edge and does not squeeze.
TimeRange clipped(TimeRange range, TimeRange whole) {
  const core::Picoseconds slack = whole.length() / 2;
  const TimeRange limit{whole.begin - slack, whole.end + slack};
  const core::Picoseconds length =
      std::clamp(range.length(), kShortestView, std::max(kShortestView, limit.length()));
  const core::Picoseconds latest = std::max(limit.begin, limit.end - length);
  const core::Picoseconds begin = std::clamp(range.begin, limit.begin, latest);
  return {begin, begin + length};
}

}  // namespace

TimeRange zoomed(const TimeAxis& axis, double x, double factor, TimeRange whole) {
  const double share = std::clamp(x / std::max(1, axis.width), 0.0, 1.0);
  const auto length =
      std::clamp(static_cast<core::Picoseconds>(static_cast<double>(axis.view.length()) * factor),
                 kShortestView, std::max(kShortestView, 2 * whole.length()));
  const core::Picoseconds fixed = axis.toTime(x);
  const auto before = static_cast<core::Picoseconds>(share * static_cast<double>(length));
  return clipped({fixed - before, fixed - before + length}, whole);
}

TimeRange panned(const TimeAxis& axis, double pixels, TimeRange whole) {
  const core::Picoseconds shift = axis.toTime(pixels) - axis.view.begin;
  return clipped({axis.view.begin + shift, axis.view.end + shift}, whole);
}

}  // namespace vsim::gui
