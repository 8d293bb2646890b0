#include "gui/model/row_layout.h"

#include <algorithm>

namespace vsim::gui {

std::vector<TimelineRow> layoutRows(const TimelineData& data, const std::vector<RankClassTracks>& classes,
                                    const std::set<std::size_t>& closed, const RowHeights& heights) {
  std::vector<TimelineRow> rows;
  int top = 0;
  const auto add = [&](TimelineRow row, int height) {
    row.top = top;
    row.height = height;
    top += height;
    rows.push_back(row);
  };
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const std::size_t first = classes[c].track;
    add({.kind = TimelineRow::Kind::rankClass, .rankClass = c, .track = first}, heights.rankClass);
    if (closed.contains(c)) continue;
    bool communicates = false;
    for (std::size_t t = first + 1; t < data.tracks.size() && data.tracks[t].kind == Track::Kind::stream;
         ++t) {
      add({.kind = TimelineRow::Kind::stream, .rankClass = c, .track = t, .lane = data.tracks[t].lane},
          heights.stream);
      communicates = communicates || data.tracks[t].communication;
    }
    if (communicates)
      add({.kind = TimelineRow::Kind::exposed, .rankClass = c, .track = first}, heights.exposed);
    top += heights.gap;
  }
  return rows;
}

std::pair<std::size_t, std::size_t> visibleRows(const std::vector<TimelineRow>& rows, int top, int height) {
  const auto first = std::partition_point(
      rows.begin(), rows.end(), [&](const TimelineRow& row) { return row.top + row.height <= top; });
  const auto last =
      std::partition_point(first, rows.end(), [&](const TimelineRow& row) { return row.top < top + height; });
  return {static_cast<std::size_t>(first - rows.begin()), static_cast<std::size_t>(last - rows.begin())};
}

}  // namespace vsim::gui
