#include "gui/model/timeline_scene.h"

#include <set>

namespace vsim::gui {

TimelineScene::TimelineScene(std::shared_ptr<const TimelineData> data, const core::ExecutionLog* prediction)
    : data_(std::move(data)),
      classes_(rankClassesOf(*data_)),
      exposedTimes_(exposedOf(*data_)),
      laneClass_(data_->lanes.size(), 0),
      bytes_(bytesOfSources(*data_)),
      layers_(layerBandsOf(*data_)) {
  for (const LaneColumns& lane : data_->lanes) lanes_.emplace_back(lane);
  for (const Exposed& times : exposedTimes_) {
    exposed_.emplace_back(times.lane);
    communication_.emplace_back(times.communication);
  }
  const Exposed* slowest = nullptr;
  for (const Exposed& times : exposedTimes_)
    if (!times.steps.empty() &&
        (slowest == nullptr || times.steps.back().length > slowest->steps.back().length))
      slowest = &times;
  if (slowest != nullptr && data_->log)
    for (const Exposed::Step& step : slowest->steps) steps_.push_back(step.range);
  if (prediction != nullptr) predicted_.emplace(*data_, *prediction);
  for (std::size_t c = 0; c < classes_.size(); ++c)
    for (const std::size_t lane : classes_[c].lanes) laneClass_[lane] = c;
}

TimeRange TimelineScene::lastStep() const {
  return steps_.empty() || steps_.back().empty() ? data_->whole : steps_.back();
}

AreaStats TimelineScene::statistics(const std::vector<std::size_t>& lanes, TimeRange range,
                                    const std::atomic<bool>& cancelled) const {
  AreaStats stats = areaStats(lanes_, lanes, range, bytes_, cancelled);
  std::set<std::size_t> touched;
  for (const std::size_t lane : lanes) touched.insert(laneClass_[lane]);
  for (const std::size_t c : touched)
    addOverlap(stats, std::span(communication_).subspan(c, 1), std::span(exposed_).subspan(c, 1));
  return stats;
}

}  // namespace vsim::gui
