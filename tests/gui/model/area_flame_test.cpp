#include "gui/model/area_flame.h"

#include <catch2/catch.hpp>
#include <random>

#include "gui/model/timeline_scene.h"
#include "tests/gui/model/opened_scenario.h"

namespace vsim::gui {
namespace {

const std::atomic<bool> kNotCancelled{false};

const TimelineScene& scene() {
  static const TimelineScene made(timelineOf(test::openScenario("tiny")->logs[0]));
  return made;
}

std::vector<std::size_t> allLanes() {
  std::vector<std::size_t> lanes(scene().lanes().size());
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = i;
  return lanes;
}

}  // namespace

TEST_CASE("flame: classes have the area's sums, and bars lie inside those above") {
  std::mt19937_64 random(3);
  const TimeRange whole = scene().lastStep();
  for (int round = 0; round < 30; ++round) {
    TimeRange range = whole;
    if (round > 0) {
      range.begin += static_cast<core::Picoseconds>(random() % static_cast<std::uint64_t>(whole.length()));
      range.end = range.begin + static_cast<core::Picoseconds>(random() % 3'000'000'000) + 1;
    }
    const AreaFlame flame = areaFlame(scene().data(), scene().lanes(), allLanes(), range, kNotCancelled);
    const AreaStats stats = areaStats(scene().lanes(), allLanes(), range, scene().bytes(), kNotCancelled);
    core::Picoseconds sum = 0;
    for (const AreaStats::Row& row : stats.rows) sum += row.sum;
    if (sum == 0) {
      CHECK(flame.nodes.empty());
      continue;
    }
    REQUIRE(flame.nodes[0].time == sum);
    std::vector<core::Picoseconds> ofChildren(flame.nodes.size(), 0), end(flame.nodes.size(), -1);
    for (std::size_t i = 1; i < flame.nodes.size(); ++i) {
      const AreaFlame::Node &node = flame.nodes[i], &parent = flame.nodes[node.parent];
      REQUIRE(node.parent < i);
      REQUIRE(node.depth == parent.depth + 1);
      REQUIRE(node.begin >= parent.begin);
      REQUIRE(node.begin + node.time <= parent.begin + parent.time);
      REQUIRE(node.begin >= end[node.parent]);  // siblings do not overlap
      end[node.parent] = node.begin + node.time;
      ofChildren[node.parent] += node.time;
      if (node.depth == 1) CHECK(node.time == stats.rows[static_cast<std::size_t>(node.kind)].sum);
    }
    for (std::size_t i = 0; i < flame.nodes.size(); ++i)
      if (ofChildren[i] > 0) REQUIRE(ofChildren[i] == flame.nodes[i].time);
  }
}

TEST_CASE("flame: a bar is found by time and depth, and told with its path") {
  const AreaFlame flame =
      areaFlame(scene().data(), scene().lanes(), allLanes(), scene().lastStep(), kNotCancelled);
  REQUIRE(flame.depth() == 4);
  for (std::size_t i = 0; i < flame.nodes.size(); ++i) {
    const AreaFlame::Node& node = flame.nodes[i];
    CHECK(flame.at(node.begin + node.time / 2, node.depth) == static_cast<int>(i));
    CHECK(flame.path(i).ends_with(node.name));
    CHECK(flame.path(i).starts_with("all"));
  }
  CHECK(flame.at(flame.nodes[0].time, 0) == -1);
  CHECK(flame.at(-1, 0) == -1);
}

TEST_CASE("flame: nothing of nothing, and names alone of traces of other programs") {
  CHECK(areaFlame(scene().data(), scene().lanes(), {}, scene().lastStep(), kNotCancelled).nodes.empty());
  TimelineData foreign;
  foreign.names = {"gemm", "copy"};
  foreign.lanes.push_back({.begin = {0, 10, 30},
                           .end = {10, 30, 35},
                           .kind = {SliceClass::forward, SliceClass::forward, SliceClass::copy},
                           .source = {0, 0, 1}});
  const std::vector<LaneIndex> lanes{LaneIndex(foreign.lanes[0])};
  const std::vector<std::size_t> first{0};
  const AreaFlame flame = areaFlame(foreign, lanes, first, {5, 100}, kNotCancelled);
  REQUIRE(flame.nodes.size() == 5);
  CHECK(flame.nodes[0].time == 30);
  CHECK(flame.path(2) == "all; forward; gemm");
  CHECK(flame.nodes[2].time == 25);
  CHECK(flame.nodes[2].count == 2);
  CHECK(flame.path(4) == "all; copy; copy");
}

}  // namespace vsim::gui
