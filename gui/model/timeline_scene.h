#pragma once

#include <memory>
#include <vector>

#include "gui/model/area_stats.h"
#include "gui/model/exposed.h"
#include "gui/model/lane_index.h"
#include "gui/model/layer_bands.h"
#include "gui/model/predicted_slices.h"

namespace vsim::gui {

/// What the first picture of a timeline needs when its slices are still to come (see stored_levels.h).
struct CoarseScene {
  struct Lane {
    TimeRange span;
    std::vector<ClassShares> cells;  // of equal length; a power of two of them, or none: an empty lane
  };
  using Steps = std::vector<Exposed::Step>;
  std::shared_ptr<TimelineData> data;  // lanes without slices
  std::vector<Lane> lanes;             // one for each of the data's
  std::vector<BusyTrack> exposed;      // one for each class of ranks
  std::vector<Steps> steps;            // the same
};

/// All that the timeline draws from: data, indexes, exposed communication. Made in the background, then
/// immutable; indexes point into the same object, so that it is neither copied nor moved.
class TimelineScene {
 public:
  /// `prediction`: the simulated log of a measured run; null: there is none.
  explicit TimelineScene(std::shared_ptr<const TimelineData> data,
                         const core::ExecutionLog* prediction = nullptr);
  explicit TimelineScene(CoarseScene coarse);
  TimelineScene(const TimelineScene&) = delete;
  TimelineScene& operator=(const TimelineScene&) = delete;

  [[nodiscard]] const TimelineData& data() const { return *data_; }
  [[nodiscard]] const std::shared_ptr<const TimelineData>& sharedData() const { return data_; }
  [[nodiscard]] const std::vector<LaneIndex>& lanes() const { return lanes_; }
  [[nodiscard]] const std::vector<RankClassTracks>& classes() const { return classes_; }
  // One for each class:
  [[nodiscard]] const std::vector<std::vector<Exposed::Step>>& classSteps() const { return classSteps_; }
  [[nodiscard]] const std::vector<BusyTrack>& exposed() const { return exposed_; }
  [[nodiscard]] const std::vector<core::Bytes>& bytes() const { return bytes_; }

  [[nodiscard]] const LayerBands& layers() const { return layers_; }
  /// Null: nothing was predicted.
  [[nodiscard]] const PredictedSlices* predicted() const { return predicted_ ? &*predicted_ : nullptr; }

  /// Whether the slices are still to come: shares of time are there, nothing else is.
  [[nodiscard]] bool coarse() const { return data_->toCome > 0; }
  /// The last completed step: what reports speak of; everything when there are no steps.
  [[nodiscard]] TimeRange lastStep() const;
  /// Completed steps of the slowest class, free of overlaps.
  [[nodiscard]] const std::vector<TimeRange>& steps() const { return steps_; }
  /// Class of ranks that a lane belongs to, as classes() counts.
  [[nodiscard]] std::size_t classOf(std::int64_t lane) const {
    return laneClass_[static_cast<std::size_t>(lane)];
  }
  /// Statistics of `lanes` in `range`, with what kernels of their classes hide of their communication.
  [[nodiscard]] AreaStats statistics(const std::vector<std::size_t>& lanes, TimeRange range,
                                     const std::atomic<bool>& cancelled) const;
  /// Of the lanes and all that is made of them; the log comes on top.
  [[nodiscard]] std::size_t memory() const;

 private:
  void findSteps();
  void findLaneClasses();

  std::shared_ptr<const TimelineData> data_;  // shared with searches and graphs
  std::vector<RankClassTracks> classes_;
  std::vector<LaneIndex> lanes_;
  std::vector<std::vector<Exposed::Step>> classSteps_;
  std::vector<BusyTrack> exposed_, communication_;
  std::vector<std::size_t> laneClass_;
  std::vector<TimeRange> steps_;
  std::vector<core::Bytes> bytes_;
  LayerBands layers_;
  std::optional<PredictedSlices> predicted_;
};

}  // namespace vsim::gui
