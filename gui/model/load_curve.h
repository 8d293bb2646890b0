#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gui/model/time_axis.h"

namespace vsim::gui {

/// What collectives are told apart by: all-gather, reduce-scatter, all-reduce (broadcast too), all-to-all.
inline constexpr std::size_t kLoadParts = 4;
using LoadParts = std::array<double, kLoadParts>;
[[nodiscard]] constexpr double sumOf(const LoadParts& parts) {
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

/// One collective's load of a link while it runs.
struct LoadInterval {
  core::Picoseconds begin = 0, end = 0;
  std::size_t part = 0;
  double load = 0;  // share of the line rate, 0 to 1
};

/// How busy a link is over time, stacked by part: the sum of loads that overlap, as steps. Indexed so that
/// mean and peak of any range take O(log n): a peak of one collective is never lost, however far out the view
/// is. Immutable.
class LoadCurve {
 public:
  LoadCurve() = default;
  explicit LoadCurve(const std::vector<LoadInterval>& intervals);

  struct Summary {
    LoadParts mean{};  // over the range
    LoadParts peak{};  // at the instant of the largest sum in the range
    core::Picoseconds peakTime = 0;
  };
  [[nodiscard]] LoadParts at(core::Picoseconds time) const;
  [[nodiscard]] Summary summary(TimeRange range) const;
  /// One summary a column.
  void columns(const TimeAxis& axis, std::vector<Summary>& out) const;
  /// Integral of the load before `time`: picoseconds at full rate.
  [[nodiscard]] LoadParts before(core::Picoseconds time) const;
  [[nodiscard]] std::size_t size() const { return times_.size(); }
  [[nodiscard]] bool empty() const { return times_.empty(); }
  [[nodiscard]] TimeRange span() const;

 private:
  [[nodiscard]] std::size_t stepAt(core::Picoseconds time) const;  // last that begins at or before it
  [[nodiscard]] std::size_t largestIn(std::size_t first, std::size_t last) const;

  std::vector<core::Picoseconds> times_;  // at which the load changes
  std::vector<LoadParts> loads_;          // from then on
  std::vector<LoadParts> integrals_;      // before then
  std::vector<std::uint32_t> tree_;       // index of the largest sum, as a segment tree
  std::size_t leaves_ = 0;
};

}  // namespace vsim::gui
