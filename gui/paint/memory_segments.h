#pragma once

#include <QPainter>
#include <span>
#include <vector>

#include "gui/model/memory_data.h"
#include "gui/paint/memory_style.h"

namespace vsim::gui {

/// Where segments stand in the picture of an allocator map: by address, all to one scale, side by side in
/// rows; one that is longer than what is left of a row goes on in the next.
struct SegmentLayout {
  struct Piece {
    std::size_t segment = 0;
    core::Bytes begin = 0, end = 0;  // in the segment
    QRect box;
    bool first = true, last = true;  // of its segment
  };
  std::vector<Piece> pieces;
  double bytesPerPixel = 1;
  int rowHeight = 16, left = 0, width = 1, height = 0;

  struct Hit {
    std::int64_t segment = -1, block = -1;  // -1: none
  };
  [[nodiscard]] Hit at(const AllocatorMap& map, QPoint point) const;
  /// Where a block of a segment is, piece by piece.
  [[nodiscard]] std::vector<QRect> boxes(std::size_t segment, core::Bytes begin, core::Bytes end) const;
};

/// At `zoom` 1 all fits into `size`; twice the zoom has about twice the rows.
[[nodiscard]] SegmentLayout layoutSegments(const AllocatorMap& map, QSize size, double zoom,
                                           const QFont& font);

/// Draws what meets `clip`. `selected`: buffers, sorted.
void drawSegments(QPainter& painter, const Palette& palette, const MemoryData& data, const AllocatorMap& map,
                  const SegmentLayout& layout, const QRect& clip, std::span<const core::Index> selected);
/// The kinds of things in the picture.
[[nodiscard]] std::vector<MemoryLegendEntry> segmentLegend(const Palette& palette);

}  // namespace vsim::gui
