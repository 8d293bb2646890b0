#include "gui/model/ticks.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace vsim::gui {
namespace {

void checkTicks(const Ticks& ticks, double low, double high, int most) {
  INFO("from " << low << " to " << high << ", at most " << most);
  REQUIRE(ticks.marks.size() >= 2);
  CHECK(ticks.marks.size() <= static_cast<std::size_t>(most) + 3);
  const double slack = 1e-9 * std::max(std::abs(low), std::abs(high));
  CHECK(ticks.low <= low + slack);
  CHECK(ticks.high >= high - slack);
  std::set<std::string> labels;
  for (std::size_t i = 0; i < ticks.marks.size(); ++i) {
    CHECK_FALSE(ticks.marks[i].label.empty());
    labels.insert(ticks.marks[i].label);
    if (i > 0) CHECK(ticks.marks[i].value > ticks.marks[i - 1].value);
    CHECK(ticks.place(ticks.marks[i].value) >= -1e-9);
    CHECK(ticks.place(ticks.marks[i].value) <= 1 + 1e-9);
  }
  CHECK(labels.size() == ticks.marks.size());  // what looks alike is alike
}

}  // namespace

TEST_CASE("Ticks cover the data, rise, and are told apart") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-6, 11), share(0.05, 1), sign(-1, 1);
  for (int i = 0; i < 400; ++i) {
    const double high = std::pow(10, exponent(random)), low = high * (1 - share(random));
    for (const int most : {3, 6, 12}) {
      checkTicks(niceTicks(low, high, most, AxisScale::linear), low, high, most);
      if (low > 0) checkTicks(niceTicks(low, high, most, AxisScale::logarithmic), low, high, most);
      const double below = high * sign(random);
      checkTicks(niceTicks(std::min(below, -high), high, most, AxisScale::linear), std::min(below, -high),
                 high, most);
    }
  }
}

TEST_CASE("Ticks of ranges that are none") {
  for (const double value : {0.0, 1.0, -3.0, 1e-9, 32.6, 10240.0}) {
    const Ticks ticks = niceTicks(value, value, 5, AxisScale::linear);
    checkTicks(ticks, value, value, 5);
    CHECK(ticks.high > ticks.low);
  }
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  CHECK(niceTicks(nothing, nothing, 5, AxisScale::linear).marks.size() >= 2);
  CHECK(niceTicks(5, 1, 5, AxisScale::linear).low <= 1);
  // Logarithms of what has none: linear instead.
  CHECK(niceTicks(0, 10, 5, AxisScale::logarithmic).scale == AxisScale::linear);
  CHECK(niceTicks(1, 10, 5, AxisScale::logarithmic).scale == AxisScale::logarithmic);
}

TEST_CASE("Ticks are round numbers") {
  const Ticks ticks = niceTicks(0, 32.6, 5, AxisScale::linear);
  REQUIRE(ticks.marks.size() == 5);
  CHECK(ticks.marks.back().value == 40);
  CHECK(ticks.marks[1].label == "10");
  const Ticks decades = niceTicks(3, 8e5, 8, AxisScale::logarithmic);
  for (const Tick& tick : decades.marks) {
    const double power = std::log10(tick.value);
    CHECK(power == Approx(std::round(power)));
  }
  CHECK(tickLabel(10240) == "10,240");
  CHECK(tickLabel(0.25) == "0.25");
  CHECK(tickLabel(2500000) == "2.5 M");
  CHECK(tickLabel(0) == "0");
}

}  // namespace vsim::gui
