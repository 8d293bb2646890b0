#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "gui/model/exposed.h"

namespace vsim::gui {

/// A row of the timeline: where it stands, below the ruler, before scrolling. Pixels.
struct TimelineRow {
  enum class Kind : std::uint8_t { rankClass, stream, exposed };
  Kind kind = Kind::stream;
  std::size_t rankClass = 0;  // number of the class as rankClassesOf() counts
  std::size_t track = 0;      // into TimelineData::tracks; of `exposed`: the class's
  std::int64_t lane = -1;     // of a stream
  int top = 0, height = 0;
};

/// Heights that keep 64 streams and fewer on a screen of 1080 lines.
struct RowHeights {
  int rankClass = 24, stream = 26, exposed = 18, gap = 6;
};

/// Rows of all classes; the streams of `closed` classes are left out.
[[nodiscard]] std::vector<TimelineRow> layoutRows(const TimelineData& data,
                                                  const std::vector<RankClassTracks>& classes,
                                                  const std::set<std::size_t>& closed,
                                                  const RowHeights& heights = {});
/// Rows that are seen in [top, top + height): first and one past the last.
[[nodiscard]] std::pair<std::size_t, std::size_t> visibleRows(const std::vector<TimelineRow>& rows, int top,
                                                              int height);

}  // namespace vsim::gui
