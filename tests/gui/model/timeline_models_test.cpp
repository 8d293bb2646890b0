#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "app/cluster.h"
#include "app/load.h"
#include "app/run.h"
#include "gui/model/critical_path.h"
#include "gui/model/row_layout.h"
#include "gui/model/slice_details.h"
#include "gui/model/slice_search.h"
#include "gui/model/time_ticks.h"
#include "gui/model/timeline_scene.h"
#include "sim/network/collective_model.h"
#include "tests/support/sample_log.h"

using namespace vsim;
using namespace vsim::gui;

namespace {

std::vector<app::RunResult> simulated(const std::string& scenario) {
  auto results = app::run({.scenario = scenario, .keepLogs = true}, {});
  if (!results) FAIL(scenario << ": " << results.error().front().message);
  return std::move(*results);
}

std::shared_ptr<const TimelineData> sampleData() {
  return timelineOf(std::make_shared<const core::ExecutionLog>(test::sampleLog()));
}

core::Picoseconds beginOf(const TimelineData& data, SliceRef ref) {
  return data.lanes[static_cast<std::size_t>(ref.lane)].begin[static_cast<std::size_t>(ref.slice)];
}
core::Picoseconds endOf(const TimelineData& data, SliceRef ref) {
  return data.lanes[static_cast<std::size_t>(ref.lane)].end[static_cast<std::size_t>(ref.slice)];
}

const std::atomic<bool> kNotCancelled = false;

}  // namespace

TEST_CASE("exposed: the last step of the slowest class is what the report says") {
  for (const char* scenario : {"tiny", "moe_10k", "llama3_8b_64"}) {
    for (const app::RunResult& result : simulated(scenario)) {
      if (!result.report.completed) continue;
      const auto data = timelineOf(result.log);
      const auto classes = rankClassesOf(*data);
      const auto exposed = exposedOf(*data);
      REQUIRE(classes.size() == exposed.size());
      bool found = false;
      for (std::size_t c = 0; c < classes.size(); ++c) {
        const Exposed::Step& step = exposed[c].steps.back();
        if (core::secondsFromPicoseconds(step.length) != result.report.stepSeconds) continue;
        found = true;
        CAPTURE(scenario, c);
        CHECK(core::secondsFromPicoseconds(step.exposed) ==
              Approx(result.report.exposedCommSeconds).epsilon(1e-12));
        CHECK(core::secondsFromPicoseconds(step.communication) ==
              Approx(result.report.commSeconds).epsilon(1e-12));
        CHECK(core::secondsFromPicoseconds(step.compute) ==
              Approx(result.report.computeSeconds).epsilon(1e-12));
        // The lane that is drawn holds the same time.
        CHECK(BusyTrack(exposed[c].lane).busyIn(step.range) == step.exposed);
        CHECK(BusyTrack(exposed[c].communication).busyIn(step.range) == step.communication);
        break;
      }
      CHECK(found);
    }
  }
}

TEST_CASE("critical path: its pieces follow one another and sum to the step, in every step of real runs") {
  for (const char* scenario : {"tiny", "moe_10k"}) {
    for (const app::RunResult& result : simulated(scenario)) {
      if (!result.report.completed) continue;
      const auto data = timelineOf(result.log);
      const auto graph = StepGraph::build(data, 0);
      REQUIRE(graph);
      for (std::size_t step = 0; step < result.log->ranks[0].stepEnd.size(); ++step) {
        const auto path = stepPath(*graph, step);
        REQUIRE(path);
        CAPTURE(scenario, step);
        core::Picoseconds at = path->step.begin, sum = 0;
        bool gapless = true;
        for (const PathSegment& segment : path->segments) {
          gapless = gapless && segment.range.begin == at && segment.range.end > at;
          at = segment.range.end;
          const bool work = segment.kind != PathKind::wait && segment.kind != PathKind::host;
          if (work) {  // lies inside its slice
            CHECK(segment.range.begin >= beginOf(*data, segment.slice));
            CHECK(segment.range.end <= endOf(*data, segment.slice));
          }
        }
        for (const auto time : path->byKind) sum += time;
        CHECK(gapless);
        CHECK(at == path->step.end);
        CHECK(sum == path->step.length());
        for (const StepPath::Saving& saving : path->ifFree) CHECK(saving.saved <= path->step.length());
      }
      CHECK_FALSE(stepPath(*graph, 99));
    }
  }
}

TEST_CASE("step graph: no slice begins before what it waited for has ended, and links go both ways") {
  const auto results = simulated("tiny");
  const auto data = timelineOf(results.front().log);
  const auto graph = StepGraph::build(data, 0);
  REQUIRE(graph);
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    const auto lane = static_cast<std::int64_t>(random() % data->lanes.size());
    if (data->tracks[0].rankClass != 0) continue;
    const SliceRef slice{
        lane, static_cast<std::int64_t>(random() % data->lanes[static_cast<std::size_t>(lane)].size())};
    if (graph->logSlice(slice) == nullptr) continue;  // of another class
    CHECK(graph->reference(*graph->logSlice(slice)) == slice);
    for (const SliceRef before : graph->predecessors(slice)) {
      CHECK(endOf(*data, before) <= beginOf(*data, slice));
      const auto back = graph->successors(before);
      CHECK(std::find(back.begin(), back.end(), slice) != back.end());
    }
  }
}

TEST_CASE("step graph: what other programs and broken calls give is an error") {
  CHECK_FALSE(StepGraph::build(std::make_shared<TimelineData>(), 0));
  CHECK_FALSE(StepGraph::build(sampleData(), 17));
  CHECK_FALSE(StepGraph::build(sampleData(), -1));
}

TEST_CASE("area statistics equal brute force on random areas of random lanes") {
  std::mt19937_64 random(5);
  std::vector<LaneColumns> columns(4);
  for (LaneColumns& lane : columns) {
    core::Picoseconds time = 0;
    for (int i = 0; i < 3000; ++i) {
      time += static_cast<core::Picoseconds>(random() % 50);
      lane.begin.push_back(time);
      time += static_cast<core::Picoseconds>(random() % (random() % 10 == 0 ? 1'000'000 : 400));
      lane.end.push_back(time);
      lane.kind.push_back(static_cast<SliceClass>(random() % kSliceClasses));
      lane.source.push_back(static_cast<std::uint32_t>(random() % 20));
    }
  }
  std::vector<LaneIndex> indexes(columns.begin(), columns.end());
  std::vector<core::Bytes> bytes(20);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<core::Bytes>(i * 100);
  const std::vector<std::size_t> lanes{0, 2, 3};
  for (int round = 0; round < 40; ++round) {
    const auto a = static_cast<core::Picoseconds>(random() % 100'000'000),
               b = static_cast<core::Picoseconds>(random() % 400'000'000);
    const TimeRange range{std::min(a, b), std::max(a, b) + 1};
    const AreaStats stats = areaStats(indexes, lanes, range, bytes, kNotCancelled);
    for (std::size_t c = 0; c < kSliceClasses; ++c) {
      std::vector<core::Picoseconds> lengths;
      core::Picoseconds sum = 0;
      core::Bytes moved = 0;
      for (const std::size_t l : lanes)
        for (std::size_t i = 0; i < columns[l].size(); ++i) {
          if (columns[l].end[i] <= range.begin || columns[l].begin[i] >= range.end) continue;
          if (static_cast<std::size_t>(columns[l].kind[i]) != c) continue;
          lengths.push_back(std::min(columns[l].end[i], range.end) -
                            std::max(columns[l].begin[i], range.begin));
          sum += lengths.back();
          moved += bytes[columns[l].source[i]];
        }
      std::sort(lengths.begin(), lengths.end());
      const AreaStats::Row& row = stats.rows[c];
      CAPTURE(round, c, range.begin, range.end);
      REQUIRE(row.count == static_cast<std::int64_t>(lengths.size()));
      REQUIRE(row.sum == sum);
      REQUIRE(row.bytes == moved);
      if (lengths.empty()) continue;
      const auto at = [&](double share) {
        return lengths[static_cast<std::size_t>(
            std::max(0.0, std::ceil(share * static_cast<double>(lengths.size())) - 1))];
      };
      REQUIRE(row.median == at(0.5));
      REQUIRE(row.p99 == at(0.99));
    }
  }
}

TEST_CASE("scene: statistics of the last step have the report's exposed communication") {
  const auto results = simulated("tiny");
  const TimelineScene scene(timelineOf(results.front().log));
  std::vector<std::size_t> lanes;
  for (std::size_t lane = 0; lane < scene.lanes().size(); ++lane) lanes.push_back(lane);
  const AreaStats stats = scene.statistics(scene.classes().front().lanes, scene.lastStep(), kNotCancelled);
  CHECK(core::secondsFromPicoseconds(stats.exposed) == Approx(results.front().report.exposedCommSeconds));
  CHECK(core::secondsFromPicoseconds(stats.communication) == Approx(results.front().report.commSeconds));
  CHECK(stats.overlap() >= 0);
  CHECK(stats.overlap() <= 1);
}

TEST_CASE("search: hits equal brute force, forward and backward, and all words must occur") {
  const auto results = simulated("tiny");
  const auto data = timelineOf(results.front().log);
  for (const std::string query : {"gather", "ALL-GATHER l1", "backward", "no such thing", "", "l1 forward"}) {
    const SliceSearch search(data, query);
    std::vector<SliceRef> all;
    for (std::size_t l = 0; l < data->lanes.size(); ++l)
      for (std::size_t i = 0; i < data->lanes[l].size(); ++i) {
        const SliceRef ref{static_cast<std::int64_t>(l), static_cast<std::int64_t>(i)};
        if (search.matches(ref)) all.push_back(ref);
      }
    CAPTURE(query);
    CHECK(search.hits(kNotCancelled).count == static_cast<std::int64_t>(all.size()));
    if (query == "gather" || query == "backward") CHECK_FALSE(all.empty());
    if (query.empty() || query == "no such thing") CHECK(all.empty());
    std::sort(all.begin(), all.end(), [&](SliceRef a, SliceRef b) {
      return std::tuple(beginOf(*data, a), a.lane, a.slice) < std::tuple(beginOf(*data, b), b.lane, b.slice);
    });
    std::vector<SliceRef> forward, backward;
    for (auto hit = search.next({}, SliceSearch::Direction::forward); hit;
         hit = search.next(*hit, SliceSearch::Direction::forward))
      forward.push_back(*hit);
    for (auto hit = search.next({}, SliceSearch::Direction::backward); hit;
         hit = search.next(*hit, SliceSearch::Direction::backward))
      backward.push_back(*hit);
    std::reverse(backward.begin(), backward.end());
    CHECK(forward == all);
    CHECK(backward == all);
    if (!all.empty()) CHECK(search.firstFrom(data->whole.begin) == all.front());
  }
}

TEST_CASE("details: names, times and reasons of a slice; none for a slice that is not there") {
  const auto results = simulated("tiny");
  const auto data = timelineOf(results.front().log);
  const auto graph = StepGraph::build(data, 0);
  REQUIRE(graph);
  const SliceSearch search(data, "all-gather");
  const auto hit = search.next({}, SliceSearch::Direction::forward);
  REQUIRE(hit);
  const SliceDetails details = sliceDetails(*data, &*graph, *hit);
  CHECK(details.title.starts_with("ALL-GATHER"));
  const auto row = [&](const std::string& name) {
    for (const auto& [key, value] : details.rows)
      if (key == name) return value;
    return std::string();
  };
  CHECK(row("kind") == "all-gather");
  CHECK_FALSE(row("bus bandwidth").empty());
  CHECK_FALSE(row("issued by the host").empty());
  CHECK_FALSE(row("why it began then").empty());
  // With the model of the cluster: what NCCL would choose, and how near this one came.
  const auto scenarios = app::loadScenarios({.scenario = "tiny"});
  REQUIRE(scenarios);
  const auto cluster = app::clusterHardware(scenarios->front());
  REQUIRE(cluster);
  const sim::CollectiveModel model(*cluster);
  std::string names;
  for (const auto& [name, value] : sliceDetails(*data, &*graph, *hit, nullptr, &model).rows) {
    names += name + ";";
    CHECK_FALSE(value.empty());
  }
  CHECK(names.find(";algorithm;bus bandwidth, model;of the links' line rate;") != std::string::npos);
  CHECK(sliceDetails(*data, nullptr, {0, 1 << 30}).rows.empty());
  CHECK(sliceDetails(*data, nullptr, {-1, -1}).rows.empty());
}

TEST_CASE("rows: closed classes keep their row alone, none overlaps, visible ones are found") {
  const auto results = simulated("moe_10k");
  const auto data = timelineOf(results.front().log);
  const auto classes = rankClassesOf(*data);
  for (const std::set<std::size_t>& closed : {std::set<std::size_t>{}, std::set<std::size_t>{0}}) {
    const auto rows = layoutRows(*data, classes, closed);
    int bottom = 0;
    for (const TimelineRow& row : rows) {
      CHECK(row.top >= bottom);
      bottom = row.top + row.height;
      if (closed.contains(row.rankClass)) CHECK(row.kind == TimelineRow::Kind::rankClass);
    }
    for (int top = -50; top < bottom + 50; top += 13) {
      const auto [first, last] = visibleRows(rows, top, 40);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const bool seen = rows[r].top < top + 40 && rows[r].top + rows[r].height > top;
        CHECK(seen == (r >= first && r < last));
      }
    }
  }
}

TEST_CASE("ticks: round, far enough apart, inside the view; lengths in every unit") {
  std::mt19937_64 random(6);
  for (int i = 0; i < 300; ++i) {
    const auto begin = static_cast<core::Picoseconds>(random() % 1'000'000'000'000);
    const auto length =
        static_cast<core::Picoseconds>(1000 + random() % (std::uint64_t{1} << (10 + random() % 34)));
    const TimeAxis axis{{begin, begin + length}, 200 + static_cast<int>(random() % 2000)};
    const auto unit = static_cast<TimeUnit>(random() % 5);
    const auto ticks = timeTicks(axis, unit, {0, 1'000'000'000'000});
    for (std::size_t t = 0; t < ticks.size(); ++t) {
      CHECK(ticks[t].time >= axis.view.begin - 1);
      CHECK(ticks[t].time <= axis.view.end + 1);
      if (t > 0) CHECK(axis.toX(ticks[t].time) - axis.toX(ticks[t - 1].time) > 108);
      if (t > 0) CHECK(ticks[t].label != ticks[t - 1].label);
    }
  }
  CHECK(lengthText(500, TimeUnit::percent, {0, 1000}) == "50.00 %");
  CHECK(lengthText(1'500'000, TimeUnit::microseconds, {}) == "1.500 us");
  CHECK(timeText(1'234'000'000) == "1.234 ms");
  CHECK(timeText(12) == "12 ps");
}

TEST_CASE("scene: the overlap of an area is that of its own streams") {
  const auto results = simulated("tiny");
  const TimelineScene scene(timelineOf(results.front().log));
  const TimelineData& data = scene.data();
  const auto& lanes = scene.classes().front().lanes;
  const AreaStats all = scene.statistics(lanes, scene.lastStep(), kNotCancelled);
  std::vector<std::size_t> communication, rest;
  for (const Track& track : data.tracks) {
    const auto lane = static_cast<std::size_t>(track.lane);
    if (track.lane < 0 || std::find(lanes.begin(), lanes.end(), lane) == lanes.end()) continue;
    (track.communication ? communication : rest).push_back(lane);
  }
  REQUIRE(communication.size() >= 2);
  const AreaStats none = scene.statistics(rest, scene.lastStep(), kNotCancelled);
  CHECK(none.communication == 0);
  CHECK(none.exposed == 0);
  core::Picoseconds sum = 0;
  for (const std::size_t lane : communication) {
    const AreaStats one = scene.statistics({lane}, scene.lastStep(), kNotCancelled);
    core::Picoseconds busy = 0;
    for (std::size_t c = 0; c < kSliceClasses; ++c)
      if (isCommunication(static_cast<SliceClass>(c))) busy += one.rows[c].sum;
    CHECK(one.communication == busy);  // a stream does one thing at a time
    CHECK(one.communication > 0);
    CHECK(one.exposed <= one.communication);
    CHECK(one.communication <= all.communication);
    CHECK(one.exposed <= all.exposed);
    sum += one.communication;
  }
  CHECK(sum >= all.communication);
  // All of them, without the kernels: the way of some lanes gives what the way of all gives.
  AreaStats some{.range = scene.lastStep()};
  std::vector<std::size_t> compute;
  for (const Track& track : data.tracks)
    if (track.compute && scene.classOf(track.lane) == 0)
      compute.push_back(static_cast<std::size_t>(track.lane));
  addOverlap(some, scene.lanes(), communication, compute, scene.classSteps().front(), kNotCancelled);
  CHECK(some.communication == all.communication);
  CHECK(some.exposed == all.exposed);
}

TEST_CASE("search: the first hit that ends after a time is found among all hits") {
  const auto results = simulated("tiny");
  const auto data = timelineOf(results.front().log);
  const SearchHits hits = SliceSearch(data, "all-gather").hits(kNotCancelled);
  for (std::size_t lane = 0; lane < data->lanes.size(); ++lane)
    for (core::Picoseconds time = 0; time < data->whole.end; time += data->whole.end / 50) {
      std::optional<std::size_t> expected;
      for (const std::uint32_t slice : hits.lanes[lane])
        if (!expected && data->lanes[lane].end[slice] > time) expected = slice;
      CHECK(hits.endingAfter(data->lanes[lane], lane, time) == expected);
    }
  CHECK_FALSE(hits.endingAfter(data->lanes[0], 99, 0));
}
