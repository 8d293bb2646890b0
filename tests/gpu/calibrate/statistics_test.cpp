#include "gpu/calibrate/statistics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace vsim::gpu;

TEST_CASE("statistics: median") {
  CHECK(median({}) == 0);
  CHECK(median({3}) == 3);
  CHECK(median({4, 1}) == 2.5);
  CHECK(median({9, 1, 5}) == 5);
  CHECK(median({2, 2, 2, 8}) == 2);
}

// Conover, Practical Nonparametric Statistics, and any table of the sign test at 5 %.
TEST_CASE("statistics: order statistics of the interval are those of the sign test") {
  const std::vector<std::pair<int, int>> table{{1, 0},   {5, 0},   {6, 1},   {8, 1},   {9, 2},
                                               {10, 2},  {12, 3},  {15, 4},  {20, 6},  {25, 8},
                                               {30, 10}, {40, 14}, {50, 18}, {100, 40}};
  for (const auto& [n, k] : table) {
    INFO("n = " << n);
    CHECK(lowerOrderStatistic(n) == k);
  }
  CHECK(lowerOrderStatistic(1000) == Approx(500 - 0.98 * std::sqrt(1000.0)).margin(2));
  CHECK(lowerOrderStatistic(5000) == Approx(2500 - 0.98 * std::sqrt(5000.0)).margin(2));
}

TEST_CASE("statistics: the interval covers the true median of skewed noise") {
  std::minstd_rand random(11);
  std::exponential_distribution<double> late(1.0);
  const double truth = 1 + std::log(2.0);
  for (const int n : {6, 9, 20, 100}) {
    int covered = 0;
    constexpr int kRuns = 1000;
    for (int run = 0; run < kRuns; ++run) {
      std::vector<double> samples;
      for (int i = 0; i < n; ++i) samples.push_back(1 + late(random));
      const Estimate found = estimate(samples);
      if (found.low <= truth && truth <= found.high) ++covered;
    }
    INFO("n = " << n << ": " << covered);
    CHECK(covered >= 935);  // 95 % with three standard deviations of the test itself
  }
}

TEST_CASE("statistics: one wild sample changes nothing") {
  std::vector<double> samples(21, 10.0);
  samples[3] = 1e6;
  const Estimate found = estimate(samples);
  CHECK(found.median == 10);
  CHECK(found.low == 10);
  CHECK(found.high == 10);
  CHECK(found.relativeHalfWidth() == 0);
  CHECK(found.variation > 1);
  CHECK(found.relativeError() == Approx(0.002));
}

TEST_CASE("statistics: few samples say little") {
  CHECK(estimate({}).relativeHalfWidth() == 1);
  CHECK(estimate({}).relativeError() == 1);
  CHECK(estimate({5, 5, 5, 5, 5}).relativeHalfWidth() == 1);
  CHECK(estimate({5, 5, 5, 5, 5}).relativeError() >= 0.05);
  CHECK(estimate({5, 5, 5, 5, 5, 5}).relativeHalfWidth() == 0);
  CHECK(estimate({0, 0, 0, 0, 0, 0, 0}).relativeError() == 1);
}

TEST_CASE("statistics: drift") {
  std::vector<double> steady, slower, noisy;
  std::minstd_rand random(3);
  std::uniform_real_distribution<double> any(0.5, 1.5);
  for (int i = 0; i < 30; ++i) {
    steady.push_back(i % 2 == 0 ? 1.0 : 1.001);
    slower.push_back(1 + 0.004 * i);
    noisy.push_back(any(random));
  }
  CHECK_FALSE(estimate(steady).drifted());
  CHECK(estimate(slower).drifted());
  CHECK(estimate(slower).drift == Approx(0.08).margin(0.01));
  CHECK_FALSE(estimate(noisy).drifted());
  CHECK(estimate({1, 2, 3, 4, 5, 6, 7, 8}).drift == 0);  // too few to say
}
