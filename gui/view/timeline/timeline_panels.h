#pragma once

#include <QString>

#include "gui/model/area_stats.h"
#include "gui/model/critical_path.h"
#include "gui/model/data_table.h"
#include "gui/model/slice_details.h"
#include "gui/model/time_ticks.h"

namespace vsim::gui {

// What the panels right of the timeline say, as rich text; "slice:3:17" are links to slices.
[[nodiscard]] QString detailsHtml(const SliceDetails& details);
[[nodiscard]] QString areaHtml(const AreaStats& stats, TimeUnit unit, TimeRange step);
[[nodiscard]] QString pathHtml(const TimelineData& data, const StepPath& path, TimeUnit unit);

/// The same as rows for export: class, count, sum, mean, median, p99, bytes.
[[nodiscard]] DataTable areaTable(const AreaStats& stats);
/// "slice:3:17".
[[nodiscard]] QString sliceLink(SliceRef slice);
/// Invalid: not such a link.
[[nodiscard]] SliceRef sliceOfLink(const QString& link);

}  // namespace vsim::gui
