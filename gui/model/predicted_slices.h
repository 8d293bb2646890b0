#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gui/model/opened_run.h"
#include "gui/model/timeline_data.h"

namespace vsim::gui {

/// The report that predicted a measured one: a real run keeps both, "fsdp2 (measured)" and "fsdp2
/// (predicted)". nullopt: `report` was not measured, or there is no such pair.
[[nodiscard]] std::optional<std::size_t> predictionOf(const OpenedRun& run, std::size_t report);

/// What the simulation said of the slices that were measured: ghosts to draw under them.
class PredictedSlices {
 public:
  /// `measured` and `predicted` are of one program. Every measured step gets the slices of the last predicted
  /// step, from its own begin on; all ranks get those of the first predicted class.
  PredictedSlices(const TimelineData& measured, const core::ExecutionLog& predicted);

  /// One for each lane of `measured`.
  [[nodiscard]] const std::vector<LaneColumns>& lanes() const { return lanes_; }
  /// Nothing was predicted for instructions that ran in no simulated step.
  [[nodiscard]] std::optional<core::Picoseconds> duration(std::uint32_t instruction) const;

 private:
  std::vector<LaneColumns> lanes_;
  std::vector<core::Picoseconds> durations_;  // by instruction; negative: none
};

}  // namespace vsim::gui
