#pragma once

#include <span>
#include <vector>

namespace vsim::gui {

struct TreemapRect {
  double x = 0, y = 0, width = 0, height = 0;
  [[nodiscard]] double area() const { return width * height; }
  [[nodiscard]] bool contains(double px, double py) const {
    return px >= x && px < x + width && py >= y && py < y + height;
  }
};

/// Rectangles with areas in proportion to the weights that cover `frame` without overlap, in the order given
/// and as square as that order allows (Bruls, Huizing, van Wijk: Squarified Treemaps, 2000). Same weights,
/// same picture. Weights of 0 and below get empty rectangles.
[[nodiscard]] std::vector<TreemapRect> squarify(std::span<const double> weights, const TreemapRect& frame);

}  // namespace vsim::gui
