#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gui/model/lane_index.h"

namespace vsim::gui {

/// Where the time of an area went, as a flame graph (icicle: the whole on top): classes of slices, under each
/// the units (layers), under each the names. Widths are sums of time.
struct AreaFlame {
  struct Node {
    std::string name;  // "all", "backward", "L3", "q_proj.dgrad"
    SliceClass kind = SliceClass::forward;
    int depth = 0;                // 0: everything
    std::size_t parent = 0;       // index; the root's is itself
    core::Picoseconds begin = 0;  // where its bar begins: time of what stands left of it
    core::Picoseconds time = 0;
    std::int64_t count = 0;
  };
  std::vector<Node> nodes;  // parents before children, siblings longest first; empty: nothing ran
  /// Deepest node at `time` (of the root's length) and `depth`; -1: none.
  [[nodiscard]] int at(core::Picoseconds time, int depth) const;
  [[nodiscard]] int depth() const;  // levels
  /// "all; backward; L3; q_proj.dgrad".
  [[nodiscard]] std::string path(std::size_t node) const;
};

/// Slices that reach out of the range count with the part inside. One pass over the slices, then over the
/// kinds of slices; `cancelled` ends it early with what there is.
[[nodiscard]] AreaFlame areaFlame(const TimelineData& data, std::span<const LaneIndex> indexes,
                                  std::span<const std::size_t> lanes, TimeRange range,
                                  const std::atomic<bool>& cancelled);

}  // namespace vsim::gui
