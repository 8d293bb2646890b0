#include "gpu/calibrate/readings.h"

#include <catch2/catch.hpp>

using namespace vsim;
using namespace vsim::gpu;
using core::Picoseconds;

namespace {

constexpr Picoseconds kMilli = 1'000'000'000;

/// Back to back from `start` (milliseconds) on.
Repetitions backToBack(double start, const std::vector<double>& lengths) {
  Repetitions list;
  double at = start;
  for (const double length : lengths) {
    core::Slice slice;
    slice.begin = static_cast<Picoseconds>(at * double{kMilli});
    at += length;
    slice.end = static_cast<Picoseconds>(at * double{kMilli});
    list.push_back(slice);
  }
  return list;
}

}  // namespace

TEST_CASE("readings: own hardware: median over ranks, warm-up dropped") {
  const std::vector<Repetitions> ranks{backToBack(0, {9, 1, 2}), backToBack(0, {9, 1, 4}),
                                       backToBack(0, {9, 7, 6})};
  const auto samples = kernelSamples(ranks, Reading::own, 1);
  REQUIRE(samples.size() == 2);
  CHECK(samples[0] == Approx(1e-3));
  CHECK(samples[1] == Approx(4e-3));
  CHECK(kernelSamples(ranks, Reading::own, 3).empty());
  CHECK(kernelSamples({}, Reading::own, 0).empty());
}

TEST_CASE("readings: own hardware: the last rank to arrive tells a collective's time") {
  // Groups {0, 2} and {1, 3}.
  const core::CommGroup group{.name = "g", .size = 2, .stride = 2};
  const std::vector<Repetitions> ranks{backToBack(0, {5}), backToBack(0, {3}), backToBack(0, {2}),
                                       backToBack(0, {8})};
  const auto samples = collectiveSamples(ranks, group, Reading::own, 0);
  REQUIRE(samples.size() == 1);
  CHECK(samples[0] == Approx(2.5e-3));  // of 2 and 3
}

// Two ranks on one processor, served in turns: each repetition takes 1 ms of work, but one of them looks
// short and the next one long.
TEST_CASE("readings: shared processors: what all get done counts") {
  Repetitions a, b;
  for (int i = 0; i < 100; ++i) {
    const auto at = [&](double ms) { return static_cast<Picoseconds>(ms * double{kMilli}); };
    core::Slice first, second;
    // a runs 4 repetitions, then b runs 4, and so on: within a turn a slice lasts 1 ms, the fifth one 5 ms.
    const double turn = 8.0 * (i / 4);
    first.begin = at(turn + i % 4);
    first.end = at(turn + i % 4 + 1);
    second.begin = at(turn + 4 + i % 4);
    second.end = at(turn + 4 + i % 4 + 1);
    a.push_back(first);
    b.push_back(second);
  }
  const auto samples = kernelSamples({a, b}, Reading::shared, 2);
  REQUIRE(samples.size() >= 6);
  for (const double sample : samples) CHECK(sample == Approx(2e-3).epsilon(0.2));
  double sum = 0;
  for (const double sample : samples) sum += sample;
  CHECK(sum / static_cast<double>(samples.size()) == Approx(2e-3).epsilon(0.03));
}

TEST_CASE("readings: shared processors: ranks that do not overlap say nothing") {
  CHECK(kernelSamples({backToBack(0, {1, 1, 1}), backToBack(10, {1, 1, 1})}, Reading::shared, 0).empty());
  CHECK(kernelSamples({backToBack(0, {}), backToBack(10, {1})}, Reading::shared, 0).empty());
}

TEST_CASE("readings: rates count parts of repetitions and gaps") {
  Repetitions list = backToBack(0, {10, 10});
  for (core::Slice& slice : list) slice.end -= 4 * kMilli;  // 0-6, 10-16
  CHECK(rateIn({list}, {0, 6 * kMilli}) * 6e-3 == Approx(1));
  CHECK(rateIn({list}, {0, 11 * kMilli}) * 11e-3 == Approx(1.5));
  CHECK(rateIn({list}, {0, 16 * kMilli}) * 16e-3 == Approx(2));
  CHECK(rateIn({list}, {0, 32 * kMilli}) * 32e-3 == Approx(2));
  CHECK(rateIn({list}, {5, 5}) == 0);
  CHECK(commonWindow({list}, 1).begin == 6 * kMilli);
  CHECK(commonWindow({list}, 0).begin == 0);
}
