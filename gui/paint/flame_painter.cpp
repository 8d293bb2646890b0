#include "gui/paint/flame_painter.h"

#include <QFontMetrics>
#include <algorithm>

namespace vsim::gui {
namespace {

constexpr double kLeast = 0.5;  // pixels
constexpr int kPadding = 4;

/// Deeper bars are paler, so that rows of one colour can be told apart.
QColor fillOf(const Palette& palette, const AreaFlame::Node& node) {
  if (node.depth == 0) return palette.grid;
  const QColor colour = palette.slice(node.kind), back = palette.background;
  const double keep = 1 - 0.2 * std::min(node.depth - 1, 3);
  const auto mix = [&](int a, int b) { return static_cast<int>(a * keep + b * (1 - keep)); };
  return {mix(colour.red(), back.red()), mix(colour.green(), back.green()), mix(colour.blue(), back.blue())};
}

}  // namespace

int FlameLayout::at(QPointF point) const {
  for (std::size_t i = 0; i < bars.size(); ++i)
    if (bars[i].rect.contains(point)) return static_cast<int>(i);
  return -1;
}

FlameLayout layOutFlame(const AreaFlame& flame, std::size_t zoom, QSizeF size, double rowHeight) {
  FlameLayout layout;
  if (zoom >= flame.nodes.size()) return layout;
  const AreaFlame::Node& whole = flame.nodes[zoom];
  if (whole.time <= 0) return layout;
  const double perTime = size.width() / static_cast<double>(whole.time);
  const auto within = [&](const AreaFlame::Node& node) {
    return node.begin >= whole.begin && node.begin + node.time <= whole.begin + whole.time;
  };
  std::vector<bool> above(flame.nodes.size(), false);
  for (std::size_t at = zoom; flame.nodes[at].parent != at;) above[at = flame.nodes[at].parent] = true;
  for (std::size_t i = 0; i < flame.nodes.size(); ++i) {
    const AreaFlame::Node& node = flame.nodes[i];
    const double top = node.depth * rowHeight;
    if (above[i]) {
      layout.bars.push_back({i, QRectF(0, top, size.width(), rowHeight - 1)});
    } else if (node.depth >= whole.depth && within(node)) {
      const double left = static_cast<double>(node.begin - whole.begin) * perTime,
                   width = static_cast<double>(node.time) * perTime;
      if (width >= kLeast) layout.bars.push_back({i, QRectF(left, top, width, rowHeight - 1)});
    }
  }
  return layout;
}

void drawFlame(QPainter& painter, const Palette& palette, const AreaFlame& flame, const FlameLayout& layout,
               int focus) {
  const QFontMetrics metrics(painter.font());
  const double all =
      flame.nodes.empty() ? 1 : static_cast<double>(std::max<core::Picoseconds>(1, flame.nodes[0].time));
  for (const FlameLayout::Bar& bar : layout.bars) {
    const AreaFlame::Node& node = flame.nodes[bar.node];
    const QColor fill = fillOf(palette, node);
    painter.fillRect(bar.rect.adjusted(0, 0, bar.rect.width() > 3 ? -1 : 0, 0), fill);
    const QRectF room = bar.rect.adjusted(kPadding, 0, -kPadding, 0);
    if (room.width() > 3 * metrics.averageCharWidth()) {
      painter.setPen(inkOn(fill));
      const QString name = QString::fromStdString(node.name);
      const QString both =
          name + QString("  %1 %").arg(100 * static_cast<double>(node.time) / all, 0, 'f', 1);
      const bool fits = metrics.horizontalAdvance(both) <= room.width();
      painter.drawText(
          room, Qt::AlignVCenter | Qt::AlignLeft,
          fits ? both : metrics.elidedText(name, Qt::ElideRight, static_cast<int>(room.width())));
    }
    if (static_cast<int>(bar.node) == focus) {
      painter.setPen(QPen(palette.critical, 2));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(bar.rect.adjusted(1, 1, -1, -1));
    }
  }
}

}  // namespace vsim::gui
