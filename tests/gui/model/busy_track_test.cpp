#include "gui/model/busy_track.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace vsim;
using namespace vsim::gui;

namespace {

Stretches randomStretches(std::mt19937_64& random, std::size_t count) {
  Stretches stretches;
  core::Picoseconds time = 700;
  while (stretches.size() < count) {
    time += static_cast<core::Picoseconds>(1 + random() % (random() % 50 == 0 ? 900'000 : 9000));
    const core::Picoseconds begin = time;
    time += static_cast<core::Picoseconds>(1 + random() % 3000);
    stretches.add({begin, time});
  }
  return stretches;
}

core::Picoseconds bruteForce(const Stretches& stretches, TimeRange range) {
  core::Picoseconds sum = 0;
  for (std::size_t i = 0; i < stretches.size(); ++i)
    sum += std::max<core::Picoseconds>(
        0, std::min(stretches.end[i], range.end) - std::max(stretches.begin[i], range.begin));
  return sum;
}

}  // namespace

TEST_CASE("busy track: stretches that touch are one, empty ones are none") {
  Stretches stretches;
  for (const TimeRange range : {TimeRange{5, 9}, TimeRange{9, 9}, TimeRange{9, 12}, TimeRange{13, 14}})
    stretches.add(range);
  CHECK(stretches.begin == std::vector<core::Picoseconds>{5, 13});
  CHECK(stretches.end == std::vector<core::Picoseconds>{12, 14});
}

TEST_CASE("busy track: busy time of any range equals brute force, and so do columns") {
  std::mt19937_64 random(5);
  for (const std::size_t count : {0, 1, 2, 15, 16, 17, 500, 3000}) {
    const Stretches stretches = randomStretches(random, count);
    const BusyTrack track(stretches);
    CHECK_FALSE(track.coarse());
    const auto reach = static_cast<std::uint64_t>(track.span().end + 5000);
    for (int i = 0; i < 60; ++i) {
      const auto a = static_cast<core::Picoseconds>(random() % reach),
                 b = static_cast<core::Picoseconds>(random() % reach);
      const TimeRange range{std::min(a, b), std::max(a, b)};
      REQUIRE(track.busyIn(range) == bruteForce(stretches, range));
      const auto [first, last] = track.stretchesIn(range);
      for (std::size_t s = 0; s < stretches.size() && !range.empty(); ++s)
        REQUIRE((s >= first && s < last) ==
                (stretches.end[s] > range.begin && stretches.begin[s] < range.end));
      const TimeAxis axis{range, 37};
      std::vector<float> shares(37);
      CHECK(track.shares(axis, false, shares) == BusyTrack::Level::exact);
      for (int x = 0; x < 37 && !range.empty(); ++x) {
        const TimeRange column{axis.boundary(x), axis.boundary(x + 1)};
        const double expected = column.empty() ? 0
                                               : static_cast<double>(bruteForce(stretches, column)) /
                                                     static_cast<double>(column.length());
        REQUIRE(static_cast<double>(shares[static_cast<std::size_t>(x)]) == Approx(expected).margin(1e-5));
      }
    }
  }
}

TEST_CASE("busy track: the curve holds what the stretches hold, wherever the view is") {
  std::mt19937_64 random(6);
  const BusyTrack track(randomStretches(random, 20'000));
  const TimeRange span = track.span();
  constexpr int kWidth = 240;
  std::vector<float> exact(kWidth), shares(kWidth);
  for (const TimeRange view :
       {span, TimeRange{span.begin - span.length(), span.end}, TimeRange{span.begin, span.end + 12345},
        TimeRange{span.begin + span.length() / 3, span.begin + span.length() / 2},
        TimeRange{span.end + 10, span.end + span.length()}}) {
    const TimeAxis axis{view, kWidth};
    track.shares(axis, false, exact);
    CHECK(track.shares(axis, true, shares) == BusyTrack::Level::curve);
    double sum = 0, exactSum = 0;
    for (std::size_t x = 0; x < kWidth; ++x) {
      CHECK(shares[x] == Approx(exact[x]).margin(0.25));  // two cells of a column are cut
      sum += static_cast<double>(shares[x]);
      exactSum += static_cast<double>(exact[x]);
    }
    CHECK(sum == Approx(exactSum).margin(0.5));
  }
  const TimeAxis near{{span.begin, span.begin + span.length() / 40}, kWidth};
  CHECK(track.shares(near, true, shares) == BusyTrack::Level::exact);
}

TEST_CASE("busy track: without stretches it answers from shares, at any zoom") {
  std::vector<float> cells(512, 0.0F);
  cells[100] = 0.5F;
  cells[511] = 1;
  const BusyTrack track({1000, 1000 + 512 * 1000}, cells);
  CHECK(track.coarse());
  CHECK(track.busyIn(track.span()) == 1500);
  CHECK(track.busyIn({101'000, 102'000}) == 500);
  CHECK(track.busyIn({101'100, 101'110}) == 5);
  CHECK(track.busyIn({511'999, 512'002}) == 2);
  CHECK(track.busyIn({0, 900}) == 0);
  std::vector<float> shares(10);
  CHECK(track.shares({{101'000, 101'010}, 10}, false, shares) == BusyTrack::Level::curve);
  for (const float share : shares) CHECK(share == Approx(0.5F).margin(1e-4));
  const BusyTrack nothing;
  CHECK_FALSE(nothing.coarse());
  nothing.shares({{0, 1000}, 10}, true, shares);
  for (const float share : shares) CHECK(share == 0);
}
