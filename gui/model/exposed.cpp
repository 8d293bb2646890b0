#include "gui/model/exposed.h"

#include <algorithm>

#include "core/report/timeline.h"

namespace vsim::gui {
namespace {

/// Adds what `timeline` leaves exposed.
void addStep(Exposed& out, const core::StepTimeline& timeline) {
  Exposed::Step step{.range = {timeline.begin, timeline.end}};
  step.length = timeline.end - timeline.begin;
  core::Picoseconds now = timeline.begin;
  core::sweep(timeline, [&](core::Picoseconds length, const core::Slice* kernel,
                            const core::Slice* collective, const core::Slice*) {
    const TimeRange range{now, now + length};
    now += length;
    if (kernel != nullptr) step.compute += length;
    if (collective == nullptr) return;
    step.communication += length;
    out.communication.add(range);
    if (kernel != nullptr) return;
    step.exposed += length;
    out.lane.add(range);
  });
  out.steps.push_back(step);
}

Exposed ofLog(const core::ExecutionLog& log, std::size_t rankClass) {
  Exposed result;
  const core::RankLog& ranks = log.ranks[rankClass];
  const core::StepProgram& program = *log.program;
  const std::size_t steps = std::min(ranks.stepBegin.size(), ranks.stepEnd.size());
  for (std::size_t step = 0; step < steps; ++step) addStep(result, core::stepTimeline(program, ranks, step));
  return result;
}

/// A foreign trace as one step, its slices in the form that the report's functions take.
Exposed ofTrace(const TimelineData& data, const RankClassTracks& tracks) {
  Exposed result;
  std::size_t size = 0;
  for (const std::size_t lane : tracks.lanes) size += data.lanes[lane].size();
  std::vector<core::Slice> slices;
  slices.reserve(size);  // intervals point into it
  core::StepTimeline timeline;
  timeline.begin = data.whole.begin;
  timeline.end = data.whole.end;
  for (const Track& track : data.tracks) {
    if (track.kind != Track::Kind::stream || track.rankClass != data.tracks[tracks.track].rankClass) continue;
    const LaneColumns& lane = data.lanes[static_cast<std::size_t>(track.lane)];
    for (std::size_t i = 0; i < lane.size(); ++i) {
      slices.push_back({.instruction = lane.source[i], .begin = lane.begin[i], .end = lane.end[i]});
      const core::Interval interval{lane.begin[i], lane.end[i], &slices.back()};
      if (interval.begin >= interval.end) continue;
      if (isCommunication(lane.kind[i]))
        timeline.comm.push_back(interval);
      else if (track.compute)
        timeline.compute.push_back(interval);
    }
  }
  timeline.comm = core::flatten(std::move(timeline.comm));
  timeline.compute = core::flatten(std::move(timeline.compute));
  addStep(result, timeline);
  return result;
}

}  // namespace

std::vector<RankClassTracks> rankClassesOf(const TimelineData& data) {
  std::vector<RankClassTracks> classes;
  for (std::size_t t = 0; t < data.tracks.size(); ++t) {
    if (data.tracks[t].kind == Track::Kind::rankClass)
      classes.push_back({t, {}});
    else if (!classes.empty() && data.tracks[t].lane >= 0)
      classes.back().lanes.push_back(static_cast<std::size_t>(data.tracks[t].lane));
  }
  return classes;
}

std::vector<Exposed> exposedOf(const TimelineData& data) {
  std::vector<Exposed> result;
  for (const RankClassTracks& tracks : rankClassesOf(data)) {
    const auto rankClass = static_cast<std::size_t>(data.tracks[tracks.track].rankClass);
    result.push_back(data.log ? ofLog(*data.log, rankClass) : ofTrace(data, tracks));
  }
  return result;
}

}  // namespace vsim::gui
