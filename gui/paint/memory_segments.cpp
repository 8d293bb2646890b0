#include "gui/paint/memory_segments.h"

#include <QFontMetrics>
#include <algorithm>
#include <cmath>

namespace vsim::gui {
namespace {

constexpr int kGap = 3;     // pixels between segments
constexpr int kRowGap = 4;  // between rows
constexpr int kLeast = 2;   // pixels of the smallest segment

int pixelsOf(core::Bytes size, double bytesPerPixel) {
  return std::max(kLeast, static_cast<int>(std::lround(static_cast<double>(size) / bytesPerPixel)));
}

/// Rows that the segments take.
std::int64_t rowsAt(const AllocatorMap& map, double bytesPerPixel, int width) {
  std::int64_t pixels = 0;
  for (const AllocatorMap::Segment& s : map.segments) pixels += pixelsOf(s.size, bytesPerPixel) + kGap;
  return (pixels + width - 1) / width + 1;
}

}  // namespace

SegmentLayout layoutSegments(const AllocatorMap& map, QSize size, double zoom, const QFont& font) {
  const QFontMetrics metrics(font);
  SegmentLayout layout;
  layout.rowHeight = metrics.height() + 6;
  layout.left = metrics.horizontalAdvance("+8888.88 GiB") + 8;
  layout.width = std::max(50, size.width() - layout.left - 8);
  const int pitch = layout.rowHeight + kRowGap;
  const auto rows = std::max<std::int64_t>(2, static_cast<std::int64_t>(size.height() / pitch * zoom));
  double low = 1, high = std::max(2.0, static_cast<double>(map.reserved));  // bytes per pixel
  for (int i = 0; i < 60 && high / low > 1.001; ++i) {
    const double middle = std::sqrt(low * high);
    (rowsAt(map, middle, layout.width) > rows ? low : high) = middle;
  }
  layout.bytesPerPixel = high;
  int x = 0, y = kRowGap;
  for (std::size_t i = 0; i < map.segments.size(); ++i) {
    const core::Bytes bytes = map.segments[i].size;
    const int all = pixelsOf(bytes, high);
    if (x + kLeast > layout.width ||
        (all < layout.width && x + all > layout.width && x > layout.width * 3 / 4)) {
      x = 0;
      y += pitch;
    }
    for (int done = 0; done < all;) {
      if (x >= layout.width) {
        x = 0;
        y += pitch;
      }
      const int length = std::min(all - done, layout.width - x);
      const auto at = [&](int pixels) {
        return pixels == all ? bytes : static_cast<core::Bytes>(static_cast<double>(bytes) * pixels / all);
      };
      layout.pieces.push_back({i, at(done), at(done + length),
                               QRect(layout.left + x, y, length, layout.rowHeight), done == 0,
                               done + length == all});
      done += length;
      x += length;
    }
    x += kGap;
  }
  layout.height = y + pitch;
  return layout;
}

SegmentLayout::Hit SegmentLayout::at(const AllocatorMap& map, QPoint point) const {
  for (const Piece& piece : pieces) {
    if (!piece.box.contains(point)) continue;
    const AllocatorMap::Segment& segment = map.segments[piece.segment];
    const double share = (point.x() - piece.box.left() + 0.5) / piece.box.width();
    const auto offset =
        piece.begin + static_cast<core::Bytes>(share * static_cast<double>(piece.end - piece.begin));
    for (std::size_t b = 0; b < segment.blocks.size(); ++b) {
      const auto begin = static_cast<core::Bytes>(segment.blocks[b].address - segment.address);
      if (offset >= begin && offset < begin + segment.blocks[b].size)
        return {static_cast<std::int64_t>(piece.segment), static_cast<std::int64_t>(b)};
    }
  }
  return {};
}

std::vector<QRect> SegmentLayout::boxes(std::size_t segment, core::Bytes begin, core::Bytes end) const {
  std::vector<QRect> found;
  const auto first = std::lower_bound(pieces.begin(), pieces.end(), segment,
                                      [](const Piece& p, std::size_t s) { return p.segment < s; });
  for (auto piece = first; piece != pieces.end() && piece->segment == segment; ++piece) {
    const core::Bytes a = std::max(begin, piece->begin), b = std::min(end, piece->end);
    if (a >= b) continue;
    const double scale =
        piece->box.width() / static_cast<double>(std::max<core::Bytes>(1, piece->end - piece->begin));
    const auto x = [&](core::Bytes at) {
      return piece->box.left() +
             static_cast<int>(std::lround(static_cast<double>(at - piece->begin) * scale));
    };
    found.emplace_back(x(a), piece->box.top(), std::max(1, x(b) - x(a)), piece->box.height());
  }
  return found;
}

std::vector<MemoryLegendEntry> segmentLegend(const Palette& palette) {
  std::vector<MemoryLegendEntry> entries;
  for (std::size_t p = 0; p < kEarlierMemory; ++p) {
    const std::string_view name = memoryPartName(p);
    entries.push_back(
        {memoryPartColor(palette, p), QString::fromUtf8(name.data(), static_cast<int>(name.size()))});
  }
  entries.push_back({palette.mutedText, "free block", MemoryLegendEntry::Look::hatched});
  return entries;
}

void drawSegments(QPainter& painter, const Palette& palette, const MemoryData& data, const AllocatorMap& map,
                  const SegmentLayout& layout, const QRect& clip, std::span<const core::Index> selected) {
  painter.setRenderHint(QPainter::Antialiasing, false);
  const QFontMetrics metrics(painter.font());
  const auto& lifetimes = data.lifetimes.all();
  int labelled = -1;
  core::Bytes before = 0;  // of the segments so far
  std::vector<std::pair<QRect, QPen>> outlines;
  for (std::size_t p = 0; p < layout.pieces.size(); ++p) {
    const SegmentLayout::Piece& piece = layout.pieces[p];
    const AllocatorMap::Segment& segment = map.segments[piece.segment];
    const core::Bytes offset = before + piece.begin;
    if (piece.last) before += segment.size;
    if (!piece.box.adjusted(-layout.left, 0, 0, kRowGap).intersects(clip)) continue;
    if (piece.box.top() != labelled) {  // how much is reserved in the rows above
      labelled = piece.box.top();
      painter.setPen(palette.mutedText);
      painter.drawText(QRect(0, labelled, layout.left - 8, layout.rowHeight),
                       Qt::AlignRight | Qt::AlignVCenter, "+" + bytesText(offset));
    }
    painter.fillRect(piece.box, palette.panel);
    for (const AllocatorMap::Block& block : segment.blocks) {
      const auto begin = static_cast<core::Bytes>(block.address - segment.address);
      if (begin >= piece.end || begin + block.size <= piece.begin) continue;
      const double scale =
          piece.box.width() / static_cast<double>(std::max<core::Bytes>(1, piece.end - piece.begin));
      const auto x = [&](core::Bytes at) {
        at = std::clamp(at, piece.begin, piece.end);
        return piece.box.left() +
               static_cast<int>(std::lround(static_cast<double>(at - piece.begin) * scale));
      };
      const QRect box(x(begin), piece.box.top(), std::max(1, x(begin + block.size) - x(begin)),
                      piece.box.height());
      if (block.lifetime < 0) {
        painter.fillRect(box, freeHatch(palette));
        continue;
      }
      const core::Index buffer = lifetimes[static_cast<std::size_t>(block.lifetime)].buffer;
      const QColor colour = memoryPartColor(palette, data.curve.part(buffer));
      painter.fillRect(box, colour);
      const int padding = x(begin + block.size) - x(begin + block.asked);
      if (padding >= 2)
        outlines.emplace_back(QRect(box.right() + 1 - padding, box.top(), padding - 1, box.height() - 1),
                              QPen(inkOn(colour), 1, Qt::DotLine));
      if (box.width() > 2) {
        painter.setPen(palette.background);
        painter.drawLine(box.topRight(), box.bottomRight());
      }
      const QString name = QString::fromStdString(bufferTitle(data.program(), buffer));
      if (box.width() > 60) {
        painter.setPen(inkOn(colour));
        painter.drawText(box.adjusted(4, 0, -4, 0), Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(name, Qt::ElideRight, box.width() - 8));
      }
      if (std::binary_search(selected.begin(), selected.end(), buffer))
        outlines.emplace_back(box.adjusted(0, 0, -1, -1), QPen(palette.critical, 3));
    }
    painter.setPen(palette.mutedText);  // the segment's own frame, open where it goes on
    painter.drawLine(piece.box.topLeft(), piece.box.topRight());
    painter.drawLine(piece.box.bottomLeft(), piece.box.bottomRight());
    painter.setPen(palette.text);
    if (piece.first) painter.drawLine(piece.box.topLeft(), piece.box.bottomLeft());
    if (piece.last) painter.drawLine(piece.box.topRight(), piece.box.bottomRight());
  }
  painter.setBrush(Qt::NoBrush);
  for (const auto& [box, pen] : outlines) {
    painter.setPen(pen);
    painter.drawRect(box);
  }
}

}  // namespace vsim::gui
