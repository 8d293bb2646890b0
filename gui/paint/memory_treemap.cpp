#include "gui/paint/memory_treemap.h"

#include <QFontMetrics>
#include <algorithm>

namespace vsim::gui {
namespace {

using Tile = MemoryTreemap::Tile;

QRectF toRect(const TreemapRect& r) { return {r.x, r.y, r.width, r.height}; }

/// What is left below a header, if there is room for one.
TreemapRect belowHeader(const TreemapRect& r, int header, double frame) {
  const double top = r.height > 2.5 * header && r.width > 3.0 * header ? header : frame;
  return {r.x + frame, r.y + top, std::max(0.0, r.width - 2 * frame), std::max(0.0, r.height - top - frame)};
}

template <class Items>
std::vector<double> weightsOf(const Items& items) {
  std::vector<double> weights;
  for (const auto& item : items) weights.push_back(static_cast<double>(std::max<core::Bytes>(0, item.bytes)));
  return weights;
}

void drawLabel(QPainter& painter, const QRectF& box, const QString& name, core::Bytes bytes,
               const QColor& ink, bool twoLines) {
  const QFontMetrics metrics(painter.font());
  const QRectF inner = box.adjusted(4, 1, -3, -1);
  if (inner.height() < metrics.height() || inner.width() < 5 * metrics.averageCharWidth()) return;
  painter.setPen(ink);
  const QString size = bytesText(bytes), both = name + "  " + size;
  if (metrics.horizontalAdvance(both) <= inner.width()) {
    painter.drawText(inner, Qt::AlignLeft | Qt::AlignTop, both);
    return;
  }
  painter.drawText(inner, Qt::AlignLeft | Qt::AlignTop,
                   metrics.elidedText(name, Qt::ElideRight, static_cast<int>(inner.width())));
  if (!twoLines) return;
  const QRectF second = inner.adjusted(0, metrics.height(), 0, 0);
  if (second.height() >= metrics.height() && metrics.horizontalAdvance(size) <= second.width())
    painter.drawText(second, Qt::AlignLeft | Qt::AlignTop, size);
}

}  // namespace

int MemoryTreemap::at(QPointF point) const {
  for (std::size_t i = tiles.size(); i-- > 0;)
    if (tiles[i].rect.contains(point.x(), point.y())) return static_cast<int>(i);
  return -1;
}

int MemoryTreemap::ofBuffer(core::Index buffer) const {
  for (std::size_t i = 0; i < tiles.size(); ++i)
    if (tiles[i].level == Tile::Level::buffer && tiles[i].buffer == buffer) return static_cast<int>(i);
  return -1;
}

MemoryTreemap treemapOf(const LiveSet& live, const core::StepProgram& program, const QRectF& area,
                        int headerHeight) {
  MemoryTreemap map;
  const auto parts = squarify(weightsOf(live.parts), {area.x(), area.y(), area.width(), area.height()});
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const LiveSet::Part& part = live.parts[p];
    const std::string_view name = memoryPartName(part.part);
    map.tiles.push_back({Tile::Level::part, parts[p], part.part, core::kNone, core::kNone, part.bytes,
                         QString::fromUtf8(name.data(), static_cast<int>(name.size()))});
    const auto units = squarify(weightsOf(part.units), belowHeader(parts[p], headerHeight, 2));
    for (std::size_t u = 0; u < units.size(); ++u) {
      const LiveSet::Unit& unit = part.units[u];
      const bool several = unit.buffers.size() > 1 && (part.units.size() > 1 || unit.unit != core::kNone);
      if (several)
        map.tiles.push_back({Tile::Level::unit, units[u], part.part, unit.unit, core::kNone, unit.bytes,
                             QString::fromStdString(unit.name)});
      const auto buffers =
          squarify(weightsOf(unit.buffers), several ? belowHeader(units[u], headerHeight, 1) : units[u]);
      for (std::size_t b = 0; b < buffers.size(); ++b) {
        const LiveBuffer& buffer = unit.buffers[b];
        const std::string title =
            several ? program.buffers[buffer.buffer].name : bufferTitle(program, buffer.buffer);
        map.tiles.push_back({Tile::Level::buffer, buffers[b], part.part, unit.unit, buffer.buffer,
                             buffer.bytes, QString::fromStdString(title)});
      }
    }
  }
  return map;
}

void drawMemoryTreemap(QPainter& painter, const Palette& palette, const MemoryTreemap& map,
                       std::span<const core::Index> selected, int focus) {
  painter.setRenderHint(QPainter::Antialiasing, false);
  const QFont normal = painter.font();
  QFont bold = normal;
  bold.setBold(true);
  for (const Tile& tile : map.tiles) {
    const QRectF box = toRect(tile.rect);
    if (box.width() < 0.5 || box.height() < 0.5) continue;
    const QColor colour = memoryPartColor(palette, tile.part);
    const QColor fill = tile.level == Tile::Level::part   ? mixed(colour, palette.background, 0.15)
                        : tile.level == Tile::Level::unit ? mixed(colour, palette.background, 0.3)
                                                          : mixed(colour, palette.background, 0.45);
    painter.fillRect(box, fill);
    if (box.width() > 3 && box.height() > 3) {
      painter.setPen(tile.level == Tile::Level::part ? palette.background
                                                     : mixed(colour, palette.background, 0.05));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(box.adjusted(0, 0, -1, -1));
    }
    painter.setFont(tile.level == Tile::Level::part ? bold : normal);
    drawLabel(painter, box, tile.name, tile.bytes, inkOn(fill), tile.level == Tile::Level::buffer);
  }
  painter.setFont(normal);
  const auto outline = [&](int index, const QPen& pen) {
    if (index < 0 || static_cast<std::size_t>(index) >= map.tiles.size()) return;
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(toRect(map.tiles[static_cast<std::size_t>(index)].rect).adjusted(1, 1, -2, -2));
  };
  outline(focus, QPen(palette.text, 2, Qt::DotLine));
  for (std::size_t i = 0; i < map.tiles.size(); ++i)
    if (map.tiles[i].level == Tile::Level::buffer &&
        std::binary_search(selected.begin(), selected.end(), map.tiles[i].buffer))
      outline(static_cast<int>(i), QPen(palette.critical, 3));
}

}  // namespace vsim::gui
