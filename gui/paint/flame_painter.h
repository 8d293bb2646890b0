#pragma once

#include <QPainter>
#include <vector>

#include "gui/model/area_flame.h"
#include "gui/model/time_ticks.h"
#include "gui/paint/palette.h"

namespace vsim::gui {

/// Where the bars of a flame graph lie in a picture.
struct FlameLayout {
  struct Bar {
    std::size_t node = 0;
    QRectF rect;
  };
  std::vector<Bar> bars;  // `zoom` and what lies under it; those narrower than half a pixel are left out
  /// Index into `bars`; -1: none.
  [[nodiscard]] int at(QPointF point) const;
};

/// `zoom`: the node as wide as the picture; those above it are drawn full width over it.
[[nodiscard]] FlameLayout layOutFlame(const AreaFlame& flame, std::size_t zoom, QSizeF size,
                                      double rowHeight);
/// `focus`: node with a frame, -1: none. Bars say name and share of the whole.
void drawFlame(QPainter& painter, const Palette& palette, const AreaFlame& flame, const FlameLayout& layout,
               int focus);

}  // namespace vsim::gui
