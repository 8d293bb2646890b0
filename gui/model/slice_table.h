#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "gui/model/critical_path.h"
#include "gui/model/data_table.h"
#include "gui/model/timeline_scene.h"

namespace vsim::gui {

/// The header alone.
[[nodiscard]] DataTable emptySliceTable();
/// The slices that overlap `range` as rows, stream by stream; of `lanes` alone where they are given. About a
/// microsecond and 250 bytes a slice: for background threads. `cancelled` ends it early.
[[nodiscard]] DataTable sliceTable(const TimelineScene& scene, TimeRange range,
                                   const std::optional<std::vector<std::size_t>>& lanes,
                                   const std::atomic<bool>& cancelled);
/// The pieces of a critical path.
[[nodiscard]] DataTable pathTable(const TimelineData& data, const StepPath& path);

}  // namespace vsim::gui
