#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "gui/model/exposed.h"
#include "gui/model/lane_index.h"

namespace vsim::gui {

/// What happened in an area: some lanes, some time. Slices that reach out of the time count with the part
/// that lies inside. Times are of one rank of every class; nothing is multiplied by the number of ranks.
struct AreaStats {
  struct Row {
    std::int64_t count = 0;
    core::Picoseconds sum = 0, median = 0, p99 = 0;  // percentiles by nearest rank, exact
    core::Bytes bytes = 0;                           // of all slices touched, in full
    [[nodiscard]] core::Picoseconds mean() const { return count == 0 ? 0 : sum / count; }
  };
  TimeRange range;
  std::size_t lanes = 0;
  std::array<Row, kSliceClasses> rows{};
  core::Picoseconds communication = 0;  // of the chosen lanes: time in which any of them communicates
  core::Picoseconds exposed = 0;        // part of it that no kernel of the class of ranks hides
  /// Share of the communication that compute hides; 1 when there is none.
  [[nodiscard]] double overlap() const {
    return communication == 0 ? 1 : 1 - static_cast<double>(exposed) / static_cast<double>(communication);
  }
};

/// Bytes of every source (instruction, or name) of the data's slices; empty for traces of other programs.
[[nodiscard]] std::vector<core::Bytes> bytesOfSources(const TimelineData& data);

/// `lanes`: indices into `indexes`. Two passes over the slices inside: about 10 ns each. `cancelled` ends it
/// early with what there is.
[[nodiscard]] AreaStats areaStats(std::span<const LaneIndex> indexes, std::span<const std::size_t> lanes,
                                  TimeRange range, std::span<const core::Bytes> bytes,
                                  const std::atomic<bool>& cancelled);
/// Adds the communication of one class of ranks, all of its lanes being in the area.
void addOverlap(AreaStats& stats, const BusyTrack& communication, const BusyTrack& exposed);
/// The same of some of its lanes: `communication` are those, `compute` what hides them, both indices into
/// `indexes`. `steps`: as in Exposed; what lies outside of them does not count, as there.
void addOverlap(AreaStats& stats, std::span<const LaneIndex> indexes,
                std::span<const std::size_t> communication, std::span<const std::size_t> compute,
                std::span<const Exposed::Step> steps, const std::atomic<bool>& cancelled);

}  // namespace vsim::gui
