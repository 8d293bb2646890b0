#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/program/execution_log.h"
#include "gui/model/opened_run.h"

namespace vsim::gui {

/// What a slice is to the eye: one colour each.
enum class SliceClass : std::uint8_t {
  forward,
  backward,  // recomputed forward work too
  optimizer,
  allGather,
  reduceScatter,
  allReduce,  // broadcast too
  allToAll,
  copy,  // kernels on streams other than the compute stream
  host,  // what a processor's thread did, in traces of other programs
};
inline constexpr std::size_t kSliceClasses = 9;
/// Classes whose shares of a lane's time are kept apart: eight are one load of the processor. Host work,
/// which has lanes of its own, stands where copies stand (LaneIndex::isHost).
inline constexpr std::size_t kBusyClasses = 8;
[[nodiscard]] constexpr std::size_t busyClass(SliceClass c) {
  return c == SliceClass::host ? static_cast<std::size_t>(SliceClass::copy) : static_cast<std::size_t>(c);
}
inline constexpr std::string_view kSliceClassNames[] = {"forward",    "backward",       "optimizer",
                                                        "all-gather", "reduce-scatter", "all-reduce",
                                                        "all-to-all", "copy",           "host"};
[[nodiscard]] constexpr bool isCommunication(SliceClass c) {
  return c >= SliceClass::allGather && c <= SliceClass::allToAll;
}

/// Slices of one stream of one class of ranks, as columns sorted by begin and free of overlaps. `source`: the
/// instruction in the log's program, or the name's index for traces of other programs.
struct LaneColumns {
  std::vector<core::Picoseconds> begin, end;
  std::vector<SliceClass> kind;
  std::vector<std::uint32_t> source;
  [[nodiscard]] std::size_t size() const { return begin.size(); }
};

/// A row of the tree left of the timeline; tracks stand in the order in which they are drawn.
struct Track {
  enum class Kind : std::uint8_t { rankClass, stream };
  Kind kind = Kind::stream;
  std::string title;  // "ranks 0-1023 · 1024 alike", "compute"
  int depth = 0;
  std::int64_t lane = -1;      // of a stream
  std::int64_t rankClass = 0;  // index into the log's ranks
  std::int64_t firstRank = 0, ranks = 1;
  bool compute = false, communication = false;
  core::StreamId stream = 0;  // of the program
};

/// Everything that ran, in the form that the timeline needs: made once per report, then immutable.
struct TimelineData {
  std::vector<LaneColumns> lanes;
  std::vector<Track> tracks;
  std::vector<std::string> names;  // of traces of other programs; empty with a log
  std::vector<TimeRange> steps;    // of the slowest class
  TimeRange whole;
  std::shared_ptr<const core::ExecutionLog> log;  // null for traces of other programs
  std::size_t toCome = 0;  // slices that are still being read: `lanes` are empty and `log` is null until then

  [[nodiscard]] std::string sliceName(std::int64_t lane, std::int64_t slice) const;
  [[nodiscard]] std::size_t slices() const;
};

/// Classes whose slices are alike are already one in a log; further ones with equal slices are folded here.
[[nodiscard]] std::shared_ptr<const TimelineData> timelineOf(std::shared_ptr<const core::ExecutionLog> log);

}  // namespace vsim::gui
