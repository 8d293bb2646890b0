#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gui/model/predicted_slices.h"
#include "gui/model/step_graph.h"

namespace vsim::sim {
class CollectiveModel;
}

namespace vsim::gui {

/// What the details panel says of one slice.
struct SliceDetails {
  std::string title;                                      // "ALL-GATHER L1"
  std::vector<std::pair<std::string, std::string>> rows;  // "duration", "1.234 ms"
  SliceRef releasedBy;                                    // the predecessor that ended last; may be invalid
  std::string releasedByName;
  std::vector<std::string> tensors;  // of its unit
};

/// `graph`: of the slice's class of ranks; null: not known yet, or a trace of another program (then nothing
/// is said of dependencies).
/// `predicted`: of a measured run; null: nothing was. `network`: of the run's cluster; null: not known.
[[nodiscard]] SliceDetails sliceDetails(const TimelineData& data, const StepGraph* graph, SliceRef slice,
                                        const PredictedSlices* predicted = nullptr,
                                        const sim::CollectiveModel* network = nullptr);

/// One line for a tooltip: "ALL-GATHER L1 · 1.234 ms · 64.0 MiB".
[[nodiscard]] std::string sliceLine(const TimelineData& data, SliceRef slice);

/// "1.234 ms", "12.3 us", "840 ns", "3 ps": four digits.
[[nodiscard]] std::string timeText(core::Picoseconds time);

}  // namespace vsim::gui
