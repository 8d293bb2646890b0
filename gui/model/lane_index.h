#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gui/model/time_axis.h"
#include "gui/model/timeline_data.h"

namespace vsim::gui {

/// Busy time by class of slice, picoseconds.
using BusyTimes = std::array<core::Picoseconds, kBusyClasses>;
/// Shares of a stretch of time by class of slice, 0 to 1: what painting needs.
struct alignas(16) ClassShares {
  std::array<float, kBusyClasses> of{};
  [[nodiscard]] float total() const {
    float sum = 0;
    for (const float share : of) sum += share;
    return sum;
  }
};

/// Answers how busy a lane is in any range of time without looking at every slice.
///
/// Level 1: busy time per class before every 256th slice. A range is then two binary searches and at most 512
/// slices: exact. A quarter of a byte a slice; smaller blocks made no frame faster.
/// Level 2: shares in up to kMaxCells equal cells of time and in their halvings: no search at all. Used where
/// a pixel covers two cells or more; totals are conserved, a pixel's share is approximate. 32 bytes a cell,
/// one cell for eight to sixteen slices, in lanes of more than kFewSlices.
///
/// Building is linear in the slices. Immutable; the columns must outlive it.
class LaneIndex {
 public:
  explicit LaneIndex(const LaneColumns& lane);
  /// Of a lane whose slices are still to come, from its shares in equal cells of `span`, a power of two of
  /// them. All answers are approximate then, and there is no slice to be found.
  LaneIndex(const LaneColumns& lane, TimeRange span, std::vector<ClassShares> cells);

  static constexpr std::size_t kBlock = 256;
  static constexpr std::size_t kFewSlices = 16384, kMinCells = 4096, kMaxCells = 32768;

  [[nodiscard]] const LaneColumns& lane() const { return *lane_; }
  /// What stands for copies is a processor's work.
  [[nodiscard]] bool isHost() const { return lane_->size() > 0 && lane_->kind.front() == SliceClass::host; }
  /// The class behind the n-th share.
  [[nodiscard]] SliceClass classAt(std::size_t n) const {
    const auto kind = static_cast<SliceClass>(n);
    return kind == SliceClass::copy && isHost() ? SliceClass::host : kind;
  }
  [[nodiscard]] TimeRange span() const { return span_; }
  [[nodiscard]] bool hasGrid() const { return !levels_.empty(); }
  [[nodiscard]] bool coarse() const { return lane_->size() == 0 && hasGrid(); }

  /// Exact busy time before `time`. O(log n).
  [[nodiscard]] BusyTimes busyBefore(core::Picoseconds time) const;
  [[nodiscard]] BusyTimes busyIn(TimeRange range) const;

  /// First slice that ends after `time`; size() when none does. O(log n).
  [[nodiscard]] std::size_t firstEndingAfter(core::Picoseconds time) const;
  /// Slices that overlap the range: [first, last).
  struct Run {
    std::size_t first = 0, last = 0;
    [[nodiscard]] std::size_t count() const { return last - first; }
  };
  [[nodiscard]] Run slicesIn(TimeRange range) const;
  /// The slice that covers `time`; else the nearest one within `slack`.
  [[nodiscard]] std::optional<std::size_t> sliceAt(core::Picoseconds time, core::Picoseconds slack = 0) const;

  enum class Level : std::uint8_t { exact, grid };
  /// Shares of every column of the axis, `width` entries. Level::grid is taken where it may be used and
  /// `allowGrid`, and of coarse lanes always; answers which one was.
  Level shares(const TimeAxis& axis, bool allowGrid, std::span<ClassShares> out) const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  /// Shares in steps of 1/65535: what is painted has 255.
  struct alignas(16) Cell {
    std::array<std::uint16_t, kBusyClasses> of{};
  };
  using Cells = std::vector<Cell>;

  void busyBefore(core::Picoseconds time, std::size_t slice, BusyTimes& out) const;
  [[nodiscard]] std::size_t gallop(core::Picoseconds time, std::size_t from) const;
  void buildBlocks();
  void buildGrid();
  void buildLevels(std::vector<ClassShares> shares);
  void exactShares(const TimeAxis& axis, std::span<ClassShares> out) const;
  void gridShares(const Cells& cells, const TimeAxis& axis, std::span<ClassShares> out) const;
  [[nodiscard]] const Cells* levelFor(const TimeAxis& axis) const;

  const LaneColumns* lane_;
  TimeRange span_;
  std::vector<BusyTimes> blocks_;  // [slice / kBlock]: before that slice
  std::vector<Cells> levels_;      // finest first, each half of the one before
};

}  // namespace vsim::gui
