#include "gui/model/track_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "gui/model/slice_details.h"

namespace vsim::gui {
namespace {

using core::Picoseconds;

const Exposed::Step* lastStepOf(const TimelineScene& scene, std::size_t rankClass) {
  const auto& steps = scene.classSteps()[rankClass];
  return steps.empty() ? nullptr : &steps.back();
}

double percent(Picoseconds part, Picoseconds whole) {
  return whole <= 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// How long after the first class of ranks this one ended its last step; negative: nothing to compare with.
Picoseconds lag(const TimelineScene& scene, std::size_t rankClass) {
  const Exposed::Step* own = lastStepOf(scene, rankClass);
  if (own == nullptr || scene.classes().size() < 2 || !scene.data().log) return -1;
  Picoseconds first = own->range.end;
  for (std::size_t c = 0; c < scene.classes().size(); ++c)
    if (const Exposed::Step* step = lastStepOf(scene, c)) first = std::min(first, step->range.end);
  return own->range.end - first;
}

Picoseconds busyOf(const LaneIndex& lane, TimeRange range) {
  Picoseconds busy = 0;
  for (const Picoseconds time : lane.busyIn(range)) busy += time;
  return busy;
}

std::string streamLine(const TimelineScene& scene, const TimelineRow& row, TimeRange step) {
  const LaneIndex& lane = scene.lanes()[static_cast<std::size_t>(row.lane)];
  const LaneIndex::Run run = lane.slicesIn(step);
  const std::string& title = scene.data().tracks[row.track].title;
  if (lane.coarse())  // its slices are still being read
    return fmt::format("{}: busy {:.1f} % of the last step", title,
                       percent(busyOf(lane, step), step.length()));
  if (run.count() == 0) return title + ": idle in the last step";
  const Picoseconds busy = busyOf(lane, step);
  std::size_t longest = run.first;
  const auto length = [&](std::size_t i) { return lane.lane().end[i] - lane.lane().begin[i]; };
  for (std::size_t i = run.first; i < run.last; ++i)
    if (length(i) > length(longest)) longest = i;
  return fmt::format("{}: busy {:.1f} % of the last step, {} slices, mean {}, longest {} ({})", title,
                     percent(busy, step.length()), run.count(),
                     timeText(busy / static_cast<Picoseconds>(run.count())), timeText(length(longest)),
                     scene.data().sliceName(row.lane, static_cast<std::int64_t>(longest)));
}

}  // namespace

std::string trackFigure(const TimelineScene& scene, const TimelineRow& row) {
  const Exposed::Step* step = lastStepOf(scene, row.rankClass);
  if (step == nullptr || step->length <= 0) return {};
  switch (row.kind) {
    case TimelineRow::Kind::stream:
      return fmt::format("{:.1f} %",
                         percent(busyOf(scene.lanes()[static_cast<std::size_t>(row.lane)], step->range),
                                 step->range.length()));
    case TimelineRow::Kind::exposed:
      return fmt::format("{} · {:.1f} %", timeText(step->exposed), percent(step->exposed, step->length));
    case TimelineRow::Kind::rankClass: {
      const Picoseconds late = lag(scene, row.rankClass);
      return late < 0 ? std::string() : "+" + timeText(late);
    }
  }
  return {};
}

std::string trackLine(const TimelineScene& scene, const TimelineRow& row) {
  const Exposed::Step* step = lastStepOf(scene, row.rankClass);
  const std::string& title = scene.data().tracks[row.track].title;
  if (step == nullptr || step->length <= 0) return title;
  if (row.kind == TimelineRow::Kind::stream) return streamLine(scene, row, step->range);
  if (row.kind == TimelineRow::Kind::exposed)
    return fmt::format("exposed: {} of {} communication, {:.1f} % of the last step; compute runs for {}",
                       timeText(step->exposed), timeText(step->communication),
                       percent(step->exposed, step->length), timeText(step->compute));
  const Picoseconds late = lag(scene, row.rankClass);
  return fmt::format("{}: last step {}{}", title, timeText(step->length),
                     late < 0    ? std::string()
                     : late == 0 ? ", the first to end it"
                                 : fmt::format(", ended {} after the first", timeText(late)));
}

}  // namespace vsim::gui
