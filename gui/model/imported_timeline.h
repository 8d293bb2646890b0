#pragma once

#include "gui/model/timeline_data.h"
#include "traces/chrome_import.h"

namespace vsim::gui {

/// A foreign trace as a timeline: a class of ranks for every process, a stream for every thread. Slices that
/// lie over one another (calls inside calls, or overlaps) stand in further rows below ("stream 7 (2)"), each
/// free of overlaps; more than kMaxRows of them are left out and counted.
///
/// Classes of slices: collectives by the names that vsim and NCCL use; kernels on other streams than vsim's
/// default one, copies, and whatever runs on the host: copy; other kernels by the phase that the event names,
/// else forward. "step 3" and "ProfilerStep#3" become steps.
struct ImportedTimeline {
  std::shared_ptr<const TimelineData> data;
  std::vector<std::string> notes;  // what was left out
};
inline constexpr std::size_t kMaxRows = 24;

[[nodiscard]] ImportedTimeline importedTimeline(traces::ImportedTrace trace);

}  // namespace vsim::gui
