#pragma once

#include <QPainter>
#include <span>
#include <vector>

#include "gui/model/live_set.h"
#include "gui/model/treemap.h"
#include "gui/paint/memory_style.h"

namespace vsim::gui {

/// The rectangles of a live set: categories, units in them, buffers in those. Made once per live set and
/// size.
struct MemoryTreemap {
  struct Tile {
    enum class Level : std::uint8_t { part, unit, buffer } level = Level::buffer;
    TreemapRect rect;
    std::size_t part = 0;  // of memory
    core::Index unit = core::kNone, buffer = core::kNone;
    core::Bytes bytes = 0;
    QString name;
  };
  std::vector<Tile> tiles;  // outer ones before what is in them
  /// The innermost tile at the point; -1: none.
  [[nodiscard]] int at(QPointF point) const;
  /// The tile of a buffer; -1: none.
  [[nodiscard]] int ofBuffer(core::Index buffer) const;
};

[[nodiscard]] MemoryTreemap treemapOf(const LiveSet& live, const core::StepProgram& program,
                                      const QRectF& area, int headerHeight);
/// `selected`: buffers, sorted. `focus`: a tile, -1: none.
void drawMemoryTreemap(QPainter& painter, const Palette& palette, const MemoryTreemap& map,
                       std::span<const core::Index> selected, int focus);

}  // namespace vsim::gui
