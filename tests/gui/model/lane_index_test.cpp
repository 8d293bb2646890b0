#include "gui/model/lane_index.h"

#include <catch2/catch.hpp>
#include <random>

using namespace vsim;
using gui::BusyTimes;
using gui::LaneColumns;
using gui::LaneIndex;
using gui::TimeAxis;
using gui::TimeRange;

namespace {

LaneColumns randomLane(std::mt19937_64& random, std::size_t slices) {
  LaneColumns lane;
  core::Picoseconds time = static_cast<core::Picoseconds>(random() % 5000);
  for (std::size_t i = 0; i < slices; ++i) {
    if (random() % 3 == 0) time += static_cast<core::Picoseconds>(random() % 900);  // else back to back
    lane.begin.push_back(time);
    time += static_cast<core::Picoseconds>(random() % (random() % 20 == 0 ? 9000 : 300));  // may be empty
    lane.end.push_back(time);
    lane.kind.push_back(static_cast<gui::SliceClass>(random() % gui::kSliceClasses));
    lane.source.push_back(static_cast<std::uint32_t>(i));
  }
  return lane;
}

BusyTimes bruteForce(const LaneColumns& lane, TimeRange range) {
  BusyTimes busy{};
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const auto overlap = std::min(range.end, lane.end[i]) - std::max(range.begin, lane.begin[i]);
    if (overlap > 0) busy[gui::busyClass(lane.kind[i])] += overlap;
  }
  return busy;
}

TimeRange randomRange(std::mt19937_64& random, TimeRange span) {
  const auto length = static_cast<std::uint64_t>(span.length() + 2000);
  const auto a = span.begin - 1000 + static_cast<core::Picoseconds>(random() % length);
  const auto b = span.begin - 1000 + static_cast<core::Picoseconds>(random() % length);
  return {std::min(a, b), std::max(a, b)};
}

/// What the columns hold of one class, picoseconds.
double timeOf(std::span<const gui::ClassShares> columns, const TimeAxis& axis, std::size_t kind) {
  double sum = 0;
  for (std::size_t x = 0; x < columns.size(); ++x) {
    const int at = static_cast<int>(x);
    sum += static_cast<double>(columns[x].of[kind]) *
           static_cast<double>(axis.boundary(at + 1) - axis.boundary(at));
  }
  return sum;
}

}  // namespace

TEST_CASE(
    "lane index: a processor's lane says that its shares are its work, another one that they are copies") {
  LaneColumns lane{.begin = {0, 20},
                   .end = {10, 30},
                   .kind = {gui::SliceClass::host, gui::SliceClass::host},
                   .source = {0, 1}};
  const LaneIndex host(lane);
  const std::size_t last = gui::kBusyClasses - 1;
  CHECK(host.isHost());
  CHECK(host.classAt(last) == gui::SliceClass::host);
  CHECK(host.classAt(0) == gui::SliceClass::forward);
  CHECK(host.busyIn({5, 25})[last] == 10);
  LaneColumns copies = lane;
  copies.kind = {gui::SliceClass::copy, gui::SliceClass::copy};
  CHECK_FALSE(LaneIndex(copies).isHost());
  CHECK(LaneIndex(copies).classAt(last) == gui::SliceClass::copy);
}

TEST_CASE("lane index: busy time of any range equals brute force") {
  std::mt19937_64 random(7);
  for (const std::size_t slices : {0, 1, 2, 15, 16, 17, 333, 2000}) {
    const LaneColumns lane = randomLane(random, slices);
    const LaneIndex index(lane);
    for (int i = 0; i < 300; ++i) {
      const TimeRange range = randomRange(random, index.span());
      CAPTURE(slices, range.begin, range.end);
      REQUIRE(index.busyIn(range) == bruteForce(lane, range));
    }
  }
}

TEST_CASE("lane index: columns on the exact level are exact, at every zoom") {
  std::mt19937_64 random(8);
  const LaneColumns lane = randomLane(random, 3000);
  const LaneIndex index(lane);
  for (int i = 0; i < 60; ++i) {
    const TimeAxis axis{randomRange(random, index.span()), 1 + static_cast<int>(random() % 400)};
    if (axis.view.empty()) continue;
    std::vector<gui::ClassShares> columns(static_cast<std::size_t>(axis.width));
    CHECK(index.shares(axis, false, columns) == LaneIndex::Level::exact);
    for (int x = 0; x < axis.width; ++x) {
      const TimeRange column{axis.boundary(x), axis.boundary(x + 1)};
      if (column.empty()) continue;
      const BusyTimes busy = bruteForce(lane, column);
      for (std::size_t c = 0; c < gui::kBusyClasses; ++c)
        REQUIRE(static_cast<double>(columns[static_cast<std::size_t>(x)].of[c]) ==
                Approx(static_cast<double>(busy[c]) / static_cast<double>(column.length())).margin(1e-6));
    }
  }
}

TEST_CASE("lane index: the grid conserves totals and is near the exact columns") {
  std::mt19937_64 random(9);
  const LaneColumns lane = randomLane(random, 400'000);
  const LaneIndex index(lane);
  REQUIRE(index.hasGrid());
  for (const int width : {100, 777, 1920}) {
    const TimeAxis axis{index.span(), width};
    const auto size = static_cast<std::size_t>(width);
    std::vector<gui::ClassShares> grid(size), exact(size);
    CHECK(index.shares(axis, true, grid) == LaneIndex::Level::grid);
    CHECK(index.shares(axis, false, exact) == LaneIndex::Level::exact);
    float worst = 0;
    for (std::size_t x = 0; x < size; ++x)
      worst = std::max(worst, std::abs(grid[x].total() - exact[x].total()));
    CHECK(worst < 0.05F);
    const BusyTimes all = index.busyIn(index.span());
    for (std::size_t c = 0; c < gui::kBusyClasses; ++c)
      CHECK(timeOf(grid, axis, c) == Approx(static_cast<double>(all[c])).epsilon(1e-5));
  }
}

TEST_CASE("lane index: a close zoom never uses the grid") {
  std::mt19937_64 random(10);
  const LaneColumns lane = randomLane(random, 100'000);
  const LaneIndex index(lane);
  const TimeRange part{index.span().begin, index.span().begin + index.span().length() / 100};
  std::vector<gui::ClassShares> columns(1000);
  CHECK(index.shares({part, 1000}, true, columns) == LaneIndex::Level::exact);
}

TEST_CASE("lane index: slices are found by time") {
  LaneColumns lane;
  for (const auto& [begin, end] : {std::pair{100, 200}, std::pair{200, 300}, std::pair{500, 510}}) {
    lane.begin.push_back(begin);
    lane.end.push_back(end);
    lane.kind.push_back(gui::SliceClass::forward);
    lane.source.push_back(0);
  }
  const LaneIndex index(lane);
  CHECK_FALSE(index.sliceAt(99));
  CHECK(index.sliceAt(100) == 0U);
  CHECK(index.sliceAt(199) == 0U);
  CHECK(index.sliceAt(200) == 1U);
  CHECK_FALSE(index.sliceAt(400));
  CHECK(index.sliceAt(400, 100) == 1U);
  CHECK(index.sliceAt(450, 60) == 2U);
  CHECK(index.sliceAt(900, 1000) == 2U);
  CHECK(index.slicesIn({150, 201}).count() == 2);
  CHECK(index.slicesIn({300, 500}).count() == 0);
  CHECK(index.slicesIn({0, 1000}).count() == 3);
}

TEST_CASE(
    "time axis: boundaries are exact at both ends and monotone; zoom keeps the time under the pointer") {
  std::mt19937_64 random(11);
  for (int i = 0; i < 500; ++i) {
    const auto begin = static_cast<core::Picoseconds>(random() % 1'000'000'000'000);
    const TimeAxis axis{{begin, begin + 1 + static_cast<core::Picoseconds>(random() % 60'000'000'000'000)},
                        1 + static_cast<int>(random() % 4000)};
    CHECK(axis.boundary(0) == axis.view.begin);
    CHECK(axis.boundary(axis.width) == axis.view.end);
    const int x = static_cast<int>(random() % static_cast<unsigned>(axis.width));
    CHECK(axis.boundary(x) <= axis.boundary(x + 1));
    if (axis.view.length() < 1'000'000) continue;
    const TimeRange next = zoomed(axis, x, 0.5, axis.view);
    const double moved = TimeAxis{next, axis.width}.toX(axis.toTime(x));
    CHECK(moved == Approx(x).margin(0.51));
  }
}

TEST_CASE("time axis: zoom and pan stay near the data") {
  const TimeRange whole{0, 1'000'000};
  const TimeAxis axis{whole, 1000};
  CHECK(zoomed(axis, 500, 100.0, whole).length() <= 2'000'000);
  CHECK(zoomed(axis, 500, 1e-9, whole).length() == gui::kShortestView);
  CHECK(panned(axis, 1e9, whole).end == 1'500'000);
  CHECK(panned(axis, -1e9, whole).begin == -500'000);
  CHECK(panned(axis, 100, whole) == TimeRange{100'000, 1'100'000});
}
