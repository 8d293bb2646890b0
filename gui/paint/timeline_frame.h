#pragma once

#include <optional>
#include <vector>

#include "gui/model/critical_path.h"
#include "gui/model/row_layout.h"
#include "gui/model/slice_search.h"
#include "gui/model/time_ticks.h"
#include "gui/model/timeline_scene.h"
#include "gui/session/session.h"

namespace vsim::gui {

/// A dependency to draw: from the end of one slice to the begin of another; or `together`: one collective on
/// two ranks.
struct FlowArrow {
  SliceRef from, to;
  bool together = false;
};

struct TimeMark {
  TimeRange range;  // empty: an instant
};

/// Lengths of the parts around the lanes, pixels.
struct TimelineMargins {
  int tree = 230, ruler = 54, heat = 0;
};

/// What one picture of the timeline shows. Plain; what it points to belongs to the caller and lives longer.
struct TimelineFrame {
  const TimelineScene* scene = nullptr;
  const std::vector<TimelineRow>* rows = nullptr;
  TimelineMargins margins;
  TimeAxis axis;   // columns are device pixels right of the tree
  int scroll = 0;  // of the rows, pixels
  bool moving = false;
  TimeUnit unit = TimeUnit::automatic;
  std::vector<std::size_t> closed;  // classes whose streams are hidden

  SliceRef selected, hovered;
  std::optional<TimeRange> area;
  std::size_t areaFirst = 0, areaLast = 0;  // rows [first, last)
  std::optional<TimeRange> limit;
  std::optional<core::Picoseconds> cursor;
  std::vector<TimeMark> marks;
  std::vector<FlowArrow> arrows;
  std::size_t arrowsInAll = 0;       // more than `arrows` holds: a badge says so
  const StepPath* path = nullptr;    // null: not shown
  const SearchHits* hits = nullptr;  // null: none
  bool exposedOnly = false;
  const PredictedSlices* predicted = nullptr;  // ghosts under the measured slices; null: none
  Theme theme = Theme::light;
};

}  // namespace vsim::gui
