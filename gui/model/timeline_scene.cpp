#include "gui/model/timeline_scene.h"

#include <set>

namespace vsim::gui {

TimelineScene::TimelineScene(std::shared_ptr<const TimelineData> data, const core::ExecutionLog* prediction)
    : data_(std::move(data)),
      classes_(rankClassesOf(*data_)),
      bytes_(bytesOfSources(*data_)),
      layers_(layerBandsOf(*data_)) {
  lanes_.reserve(data_->lanes.size());
  for (const LaneColumns& lane : data_->lanes) lanes_.emplace_back(lane);
  for (Exposed& times : exposedOf(*data_)) {
    classSteps_.push_back(std::move(times.steps));
    exposed_.emplace_back(std::move(times.lane));
    communication_.emplace_back(std::move(times.communication));
  }
  if (data_->log) findSteps();
  if (prediction != nullptr) predicted_.emplace(*data_, *prediction);
  findLaneClasses();
}

TimelineScene::TimelineScene(CoarseScene coarse)
    : data_(std::move(coarse.data)),
      classes_(rankClassesOf(*data_)),
      classSteps_(std::move(coarse.steps)),
      exposed_(std::move(coarse.exposed)),
      communication_(exposed_.size()) {
  for (std::size_t i = 0; i < data_->lanes.size(); ++i) {
    const LaneColumns& empty = data_->lanes[i];
    CoarseScene::Lane& from = coarse.lanes[i];
    lanes_.push_back(from.cells.empty() ? LaneIndex(empty)
                                        : LaneIndex(empty, from.span, std::move(from.cells)));
  }
  findSteps();
  findLaneClasses();
}

void TimelineScene::findSteps() {
  const std::vector<Exposed::Step>* slowest = nullptr;
  for (const auto& steps : classSteps_)
    if (!steps.empty() && (slowest == nullptr || steps.back().length > slowest->back().length))
      slowest = &steps;
  if (slowest == nullptr) return;
  for (const Exposed::Step& step : *slowest) steps_.push_back(step.range);
}

void TimelineScene::findLaneClasses() {
  laneClass_.assign(data_->lanes.size(), 0);
  for (std::size_t c = 0; c < classes_.size(); ++c)
    for (const std::size_t lane : classes_[c].lanes) laneClass_[lane] = c;
}

TimeRange TimelineScene::lastStep() const {
  return steps_.empty() || steps_.back().empty() ? data_->whole : steps_.back();
}

AreaStats TimelineScene::statistics(const std::vector<std::size_t>& lanes, TimeRange range,
                                    const std::atomic<bool>& cancelled) const {
  AreaStats stats = areaStats(lanes_, lanes, range, bytes_, cancelled);
  const std::set<std::size_t> chosen(lanes.begin(), lanes.end());
  std::vector<std::vector<std::size_t>> communication(classes_.size()), compute(classes_.size());
  std::vector<std::size_t> left(classes_.size(), 0);  // lanes that communicate and are not chosen
  for (const Track& track : data_->tracks) {
    if (track.lane < 0) continue;
    const auto lane = static_cast<std::size_t>(track.lane);
    const std::size_t c = laneClass_[lane];
    if (track.compute) compute[c].push_back(lane);
    if (track.communication && chosen.contains(lane)) communication[c].push_back(lane);
    if (track.communication && !chosen.contains(lane)) ++left[c];
  }
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    if (communication[c].empty()) continue;
    if (left[c] == 0)
      addOverlap(stats, communication_[c], exposed_[c]);
    else
      addOverlap(stats, lanes_, communication[c], compute[c], classSteps_[c], cancelled);
  }
  return stats;
}

std::size_t TimelineScene::memory() const {
  constexpr std::size_t kColumns = 2 * sizeof(core::Picoseconds) + sizeof(SliceClass) + sizeof(std::uint32_t);
  std::size_t sum = bytes_.size() * sizeof(core::Bytes);
  for (const LaneIndex& lane : lanes_) sum += lane.bytes() + lane.lane().size() * kColumns;
  for (const auto* tracks : {&exposed_, &communication_})
    for (const BusyTrack& track : *tracks) sum += track.bytes();
  return sum;
}

}  // namespace vsim::gui
