#pragma once

#include <memory>
#include <vector>

#include "gui/model/area_stats.h"
#include "gui/model/exposed.h"
#include "gui/model/lane_index.h"
#include "gui/model/layer_bands.h"
#include "gui/model/predicted_slices.h"

namespace vsim::gui {

/// All that the timeline draws from: data, indexes, exposed communication. Made in the background, then
/// immutable; indexes point into the same object, so that it is neither copied nor moved.
class TimelineScene {
 public:
  /// `prediction`: the simulated log of a measured run; null: there is none.
  explicit TimelineScene(std::shared_ptr<const TimelineData> data,
                         const core::ExecutionLog* prediction = nullptr);
  TimelineScene(const TimelineScene&) = delete;
  TimelineScene& operator=(const TimelineScene&) = delete;

  [[nodiscard]] const TimelineData& data() const { return *data_; }
  [[nodiscard]] const std::shared_ptr<const TimelineData>& sharedData() const { return data_; }
  [[nodiscard]] const std::vector<LaneIndex>& lanes() const { return lanes_; }
  [[nodiscard]] const std::vector<RankClassTracks>& classes() const { return classes_; }
  // One for each class:
  [[nodiscard]] const std::vector<Exposed>& exposed() const { return exposedTimes_; }
  [[nodiscard]] const std::vector<LaneIndex>& exposedLanes() const { return exposed_; }
  [[nodiscard]] const std::vector<LaneIndex>& communicationLanes() const { return communication_; }
  [[nodiscard]] const std::vector<core::Bytes>& bytes() const { return bytes_; }

  [[nodiscard]] const LayerBands& layers() const { return layers_; }
  /// Null: nothing was predicted.
  [[nodiscard]] const PredictedSlices* predicted() const { return predicted_ ? &*predicted_ : nullptr; }

  /// The last completed step: what reports speak of; everything when there are no steps.
  [[nodiscard]] TimeRange lastStep() const;
  /// Completed steps of the slowest class, free of overlaps.
  [[nodiscard]] const std::vector<TimeRange>& steps() const { return steps_; }
  /// Class of ranks that a lane belongs to, as classes() counts.
  [[nodiscard]] std::size_t classOf(std::int64_t lane) const {
    return laneClass_[static_cast<std::size_t>(lane)];
  }
  /// Statistics of `lanes` in `range`, with the overlap of the classes that they belong to.
  [[nodiscard]] AreaStats statistics(const std::vector<std::size_t>& lanes, TimeRange range,
                                     const std::atomic<bool>& cancelled) const;

 private:
  std::shared_ptr<const TimelineData> data_;  // shared with searches and graphs
  std::vector<RankClassTracks> classes_;
  std::vector<Exposed> exposedTimes_;
  std::vector<LaneIndex> lanes_, exposed_, communication_;
  std::vector<std::size_t> laneClass_;
  std::vector<TimeRange> steps_;
  std::vector<core::Bytes> bytes_;
  LayerBands layers_;
  std::optional<PredictedSlices> predicted_;
};

}  // namespace vsim::gui
