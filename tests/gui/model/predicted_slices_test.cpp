#include "gui/model/predicted_slices.h"

#include <catch2/catch.hpp>

#include "core/report/timeline.h"
#include "gui/model/slice_details.h"
#include "tests/gui/model/opened_scenario.h"

namespace vsim::gui {
namespace {

/// A log that stands for a measured one: what is slower took half as long again.
std::shared_ptr<core::ExecutionLog> slower(const core::ExecutionLog& log) {
  auto result = std::make_shared<core::ExecutionLog>(log);
  const auto stretch = [](core::Picoseconds& time) { time += time / 2; };
  for (core::RankLog& rank : result->ranks) {
    for (core::Slice& slice : rank.slices) stretch(slice.begin), stretch(slice.end);
    for (auto& time : rank.stepBegin) stretch(time);
    for (auto& time : rank.stepEnd) stretch(time);
  }
  return result;
}

}  // namespace

TEST_CASE("predicted slices: each measured step has the last predicted one's, from its own begin on") {
  const auto run = test::openScenario("tiny");
  const core::ExecutionLog& predicted = *run->logs[0];
  const auto measured = timelineOf(slower(predicted));
  const PredictedSlices ghosts(*measured, predicted);
  REQUIRE(ghosts.lanes().size() == measured->lanes.size());
  const core::RankLog& rank = measured->log->ranks[0];
  const core::RankLog& simulated = predicted.ranks[0];
  const std::size_t last = simulated.stepEnd.size() - 1;
  std::size_t found = 0;
  for (const core::Slice& slice : simulated.slices) {
    if (slice.step != last) continue;
    CHECK(ghosts.duration(slice.instruction) == slice.end - slice.begin);
    for (const Track& track : measured->tracks) {
      if (track.lane < 0 || track.stream != slice.stream) continue;
      const LaneColumns& lane = ghosts.lanes()[static_cast<std::size_t>(track.lane)];
      CHECK(std::ranges::is_sorted(lane.begin));
      for (std::size_t step = 0; step < rank.stepEnd.size(); ++step) {
        const core::Picoseconds begin = rank.stepEnd[step] - core::stepLength(rank, step) + slice.begin -
                                        (simulated.stepEnd[last] - core::stepLength(simulated, last));
        const auto at = std::ranges::lower_bound(lane.begin, begin) - lane.begin.begin();
        REQUIRE(at < static_cast<std::ptrdiff_t>(lane.size()));
        CHECK(lane.begin[static_cast<std::size_t>(at)] == begin);
        ++found;
      }
    }
  }
  CHECK(found > 10);
}

TEST_CASE("predicted slices: of another program there are none") {
  const auto tiny = test::openScenario("tiny"), other = test::openScenario("tiny", {{"model.layers", "1"}});
  const auto measured = timelineOf(tiny->logs[0]);
  REQUIRE(other->logs[0]->program->step.size() != tiny->logs[0]->program->step.size());
  const PredictedSlices ghosts(*measured, *other->logs[0]);
  for (const LaneColumns& lane : ghosts.lanes()) CHECK(lane.size() == 0);
  CHECK_FALSE(ghosts.duration(0));
  CHECK_FALSE(ghosts.duration(1U << 30U));
  CHECK(PredictedSlices(*measured, core::ExecutionLog{}).lanes().size() == measured->lanes.size());
}

TEST_CASE("predicted slices: details hold them against what was measured") {
  const auto run = test::openScenario("tiny");
  const auto measured = timelineOf(slower(*run->logs[0]));
  const PredictedSlices ghosts(*measured, *run->logs[0]);
  const auto last = static_cast<std::int64_t>(measured->lanes[0].size()) - 1;
  const SliceDetails details = sliceDetails(*measured, nullptr, {0, last}, &ghosts);
  const auto row = std::ranges::find(details.rows, "predicted", &std::pair<std::string, std::string>::first);
  REQUIRE(row != details.rows.end());
  CHECK(row->second.find("(-33.3 %)") != std::string::npos);
}

TEST_CASE("predicted slices: a measured report is paired with its own system's prediction") {
  OpenedRun run = *test::openScenario("tiny");
  CHECK_FALSE(predictionOf(run, 0));
  std::vector<core::RunReport> reports;
  for (const char* system :
       {"fsdp2 (measured)", "fsdp2 (predicted)", "vescale (measured)", "vescale (predicted)"}) {
    reports.push_back(run.reports[0]);
    reports.back().facts.system = system;
  }
  run.reports = reports;
  run.logs = std::vector(4, run.logs[0]);
  CHECK(predictionOf(run, 0) == 1U);
  CHECK_FALSE(predictionOf(run, 1));
  CHECK(predictionOf(run, 2) == 3U);
  CHECK_FALSE(predictionOf(run, 4));
  run.logs[3] = nullptr;
  CHECK_FALSE(predictionOf(run, 2));
}

}  // namespace vsim::gui
