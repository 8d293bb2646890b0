#include "gui/model/track_figures.h"

#include <catch2/catch.hpp>

#include "gui/model/slice_details.h"
#include "tests/gui/model/opened_scenario.h"

namespace vsim::gui {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A step of 100 ns on two streams; the second rank ends 40 ns after the first.
std::shared_ptr<const TimelineData> twoRanks() {
  auto log = std::make_shared<core::ExecutionLog>(*test::openScenario("tiny")->logs[0]);
  core::RankLog late = log->ranks[0];
  late.firstRank = 1;
  for (core::Slice& slice : late.slices) slice.end += slice.step == late.stepEnd.size() - 1 ? 40'000 : 0;
  late.stepEnd.back() += 40'000;
  log->ranks = {log->ranks[0], late};
  return timelineOf(log);
}

}  // namespace

TEST_CASE("track figures: streams say how busy they are, by the sum of their slices") {
  const auto run = test::openScenario("tiny");
  const TimelineScene scene(timelineOf(run->logs[0]));
  const TimeRange step = scene.lastStep();
  int streams = 0;
  for (const TimelineRow& row : layoutRows(scene.data(), scene.classes(), {})) {
    const std::string figure = trackFigure(scene, row), line = trackLine(scene, row);
    INFO(line);
    if (row.kind == TimelineRow::Kind::rankClass) CHECK(figure.empty());  // one class: nothing to be late for
    if (row.kind == TimelineRow::Kind::exposed)
      CHECK(contains(line, timeText(core::picosecondsFromSeconds(run->reports[0].exposedCommSeconds))));
    if (row.kind != TimelineRow::Kind::stream) continue;
    ++streams;
    const LaneColumns& lane = scene.data().lanes[static_cast<std::size_t>(row.lane)];
    core::Picoseconds busy = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < lane.size(); ++i) {
      const core::Picoseconds inside = std::min(lane.end[i], step.end) - std::max(lane.begin[i], step.begin);
      if (inside > 0) busy += inside;
      count += lane.end[i] > step.begin && lane.begin[i] < step.end ? 1 : 0;
    }
    CHECK(figure ==
          fmt::format("{:.1f} %", 100 * static_cast<double>(busy) / static_cast<double>(step.length())));
    CHECK(contains(line, "busy " + figure));
    CHECK(contains(line, fmt::format(" {} slices", count)));
  }
  CHECK(streams >= 2);
}

TEST_CASE("track figures: of several ranks each says how late it ended") {
  const TimelineScene scene(twoRanks());
  std::vector<std::string> figures;
  for (const TimelineRow& row : layoutRows(scene.data(), scene.classes(), {}))
    if (row.kind == TimelineRow::Kind::rankClass) figures.push_back(trackFigure(scene, row));
  CHECK(figures == std::vector<std::string>{"+" + timeText(0), "+" + timeText(40'000)});
}

TEST_CASE("track figures: a trace without steps has its titles") {
  auto data = std::make_shared<TimelineData>();
  data->tracks.push_back({.kind = Track::Kind::rankClass, .title = "process 1"});
  const TimelineScene scene(data);
  for (const TimelineRow& row : layoutRows(scene.data(), scene.classes(), {})) {
    CHECK(trackFigure(scene, row).empty());
    CHECK(trackLine(scene, row) == "process 1");
  }
}

}  // namespace vsim::gui
