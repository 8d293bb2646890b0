#include <catch2/catch.hpp>
#include <random>

#include "gui/model/treemap.h"

using vsim::gui::squarify;
using vsim::gui::TreemapRect;

TEST_CASE("Areas are in proportion, cover the frame and do not overlap") {
  std::mt19937 random(17);
  for (int round = 0; round < 60; ++round) {
    std::vector<double> weights(1 + random() % 60);
    double total = 0;
    for (double& weight : weights)
      total += weight = random() % 5 == 0 ? 0 : 1 + static_cast<double>(random() % 1000);
    if (total == 0) continue;
    const TreemapRect frame{3, -7, 100 + static_cast<double>(random() % 900),
                            50 + static_cast<double>(random() % 700)};
    const auto rects = squarify(weights, frame);
    REQUIRE(rects.size() == weights.size());
    double covered = 0;
    for (std::size_t i = 0; i < rects.size(); ++i) {
      const TreemapRect& a = rects[i];
      REQUIRE(a.area() == Approx(weights[i] / total * frame.area()).epsilon(1e-6).margin(1e-6));
      covered += a.area();
      if (a.area() == 0) continue;
      REQUIRE(a.x >= frame.x - 1e-6);
      REQUIRE(a.y >= frame.y - 1e-6);
      REQUIRE(a.x + a.width <= frame.x + frame.width + 1e-6);
      REQUIRE(a.y + a.height <= frame.y + frame.height + 1e-6);
      for (std::size_t j = i + 1; j < rects.size(); ++j) {
        const TreemapRect& b = rects[j];
        const double w = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
        const double h = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
        REQUIRE((w <= 1e-6 || h <= 1e-6));
      }
    }
    CHECK(covered == Approx(frame.area()));
    const auto again = squarify(weights, frame);
    for (std::size_t i = 0; i < rects.size(); ++i) REQUIRE(rects[i].x == again[i].x);
  }
}

TEST_CASE("Equal weights in a square become squares, and nothing becomes nothing") {
  const auto rects = squarify(std::vector<double>(4, 1.0), {0, 0, 100, 100});
  for (const TreemapRect& r : rects) CHECK(r.width == Approx(r.height));
  CHECK(squarify({}, {0, 0, 10, 10}).empty());
  CHECK(squarify(std::vector<double>{0, 0}, {0, 0, 10, 10})[1].area() == 0);
  CHECK(squarify(std::vector<double>{1}, {0, 0, 0, 10})[0].area() == 0);
}
