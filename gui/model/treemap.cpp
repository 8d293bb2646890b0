#include "gui/model/treemap.h"

#include <algorithm>

namespace vsim::gui {
namespace {

/// The worst ratio of sides in a row of areas between `least` and `most` that sum to `sum`.
double worstRatio(double sum, double least, double most, double side) {
  const double s2 = sum * sum, w2 = side * side;
  return std::max(w2 * most / s2, s2 / (w2 * least));
}

}  // namespace

std::vector<TreemapRect> squarify(std::span<const double> weights, const TreemapRect& frame) {
  std::vector<TreemapRect> rects(weights.size(), TreemapRect{frame.x, frame.y, 0, 0});
  std::vector<std::size_t> order;
  double total = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    order.push_back(i);
    total += weights[i];
  }
  if (total <= 0 || frame.area() <= 0) return rects;
  const double scale = frame.area() / total;
  TreemapRect rest = frame;
  for (std::size_t begin = 0; begin < order.size();) {
    const double side = std::min(rest.width, rest.height);
    double sum = 0, least = 0, most = 0;
    std::size_t end = begin;
    for (; end < order.size(); ++end) {  // the row grows as long as its worst rectangle gets better
      const double area = weights[order[end]] * scale;
      const double newLeast = end == begin ? area : std::min(least, area), newMost = std::max(most, area);
      if (end > begin && worstRatio(sum + area, newLeast, newMost, side) > worstRatio(sum, least, most, side))
        break;
      sum += area;
      least = newLeast;
      most = newMost;
    }
    const bool upright = rest.width >= rest.height;  // the row stands at the left, else lies at the top
    const bool lastRow = end == order.size();        // takes what rounding left
    const double depth = lastRow    ? (upright ? rest.width : rest.height)
                         : side > 0 ? std::min(sum / side, upright ? rest.width : rest.height)
                                    : 0;
    double offset = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const double length =
          i + 1 == end ? side - offset : std::min(side - offset, side * weights[order[i]] * scale / sum);
      rects[order[i]] = upright ? TreemapRect{rest.x, rest.y + offset, depth, length}
                                : TreemapRect{rest.x + offset, rest.y, length, depth};
      offset += length;
    }
    if (upright) {
      rest.x += depth;
      rest.width -= depth;
    } else {
      rest.y += depth;
      rest.height -= depth;
    }
    begin = end;
  }
  return rects;
}

}  // namespace vsim::gui
