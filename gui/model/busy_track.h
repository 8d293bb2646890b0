#pragma once

#include <span>
#include <vector>

#include "gui/model/time_axis.h"

namespace vsim::gui {

/// Stretches of time in order, without overlaps; those that touch are one.
struct Stretches {
  std::vector<core::Picoseconds> begin, end;
  [[nodiscard]] std::size_t size() const { return begin.size(); }
  /// `range` begins where the last one ends, or later.
  void add(TimeRange range);
};

/// Answers how much of any range of time its stretches cover. LaneIndex without classes: one number where
/// that has eight, for what is only busy or not, and for heat maps of hundreds of rows.
///
/// Exact answers come from the sum before every 64th stretch. Of many stretches a curve of their sum over
/// equal cells of time is kept besides: a column of two cells or more costs two look-ups, however much it
/// covers. 17 bytes a stretch and 16 KB. Immutable.
class BusyTrack {
 public:
  static constexpr std::size_t kBlock = 64;
  static constexpr int kCells = 4096;
  static constexpr std::size_t kFew = 1024;  // stretches that need no curve

  BusyTrack() = default;
  explicit BusyTrack(Stretches stretches);
  /// Of stretches that are still to come, from the shares that they cover of equal cells of `span`. All
  /// answers are approximate then, and there are no stretches.
  BusyTrack(TimeRange span, std::span<const float> cells);

  [[nodiscard]] const Stretches& stretches() const { return stretches_; }
  [[nodiscard]] TimeRange span() const { return span_; }
  [[nodiscard]] bool coarse() const { return stretches_.size() == 0 && !curve_.empty(); }

  [[nodiscard]] core::Picoseconds busyIn(TimeRange range) const;
  /// Stretches that overlap the range: [first, last).
  [[nodiscard]] std::pair<std::size_t, std::size_t> stretchesIn(TimeRange range) const;

  enum class Level : std::uint8_t { exact, curve };
  /// Shares of every column of the axis, 0 to 1; `out` has `axis.width` entries. The curve is taken where
  /// columns are wide enough and `allowCurve`, and of coarse tracks always; answers which one was.
  Level shares(const TimeAxis& axis, bool allowCurve, std::span<float> out) const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] std::size_t firstEndingAfter(core::Picoseconds time) const;
  /// Busy time before `time`, which lies before the end of stretch number `at`, the first such.
  [[nodiscard]] core::Picoseconds busyBefore(core::Picoseconds time, std::size_t at) const;
  void exactShares(const TimeAxis& axis, std::span<float> out) const;
  void curveShares(const TimeAxis& axis, std::span<float> out) const;
  void buildCurve(std::span<const float> cells);

  Stretches stretches_;
  TimeRange span_;
  std::vector<core::Picoseconds> blocks_;  // [stretch / kBlock]: busy time before that stretch
  std::vector<float> curve_;               // [cell]: busy cells before it
};

}  // namespace vsim::gui
