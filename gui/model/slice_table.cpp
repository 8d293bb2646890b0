#include "gui/model/slice_table.h"

#include <algorithm>

namespace vsim::gui {

DataTable emptySliceTable() {
  return {{"ranks", "stream", "name", "class", "begin (ps)", "duration (ps)"},
          {},
          {false, false, false, false, true, true}};
}

DataTable sliceTable(const TimelineScene& scene, TimeRange range,
                     const std::optional<std::vector<std::size_t>>& lanes,
                     const std::atomic<bool>& cancelled) {
  DataTable table = emptySliceTable();
  const TimelineData& data = scene.data();
  for (const Track& track : data.tracks) {
    if (track.lane < 0) continue;
    const auto number = static_cast<std::size_t>(track.lane);
    if (lanes && std::ranges::find(*lanes, number) == lanes->end()) continue;
    const LaneColumns& lane = data.lanes[number];
    const LaneIndex::Run run = scene.lanes()[number].slicesIn(range);
    const std::string& ranks = data.tracks[scene.classes()[scene.classOf(track.lane)].track].title;
    for (std::size_t i = run.first; i < run.last; ++i) {
      if (cancelled) return table;
      table.rows.push_back({ranks, track.title, data.sliceName(track.lane, static_cast<std::int64_t>(i)),
                            std::string(kSliceClassNames[static_cast<std::size_t>(lane.kind[i])]),
                            std::to_string(lane.begin[i]), std::to_string(lane.end[i] - lane.begin[i])});
    }
  }
  return table;
}

DataTable pathTable(const TimelineData& data, const StepPath& path) {
  DataTable table{{"kind", "name", "begin (ps)", "duration (ps)"}, {}, {false, false, true, true}};
  for (const PathSegment& segment : path.segments)
    table.rows.push_back({std::string(kPathKindNames[static_cast<std::size_t>(segment.kind)]),
                          segment.slice.valid() ? data.sliceName(segment.slice.lane, segment.slice.slice)
                                                : std::string("host"),
                          std::to_string(segment.range.begin), std::to_string(segment.range.length())});
  return table;
}

}  // namespace vsim::gui
