#include "gui/paint/sheet.h"

#include <QFontMetricsF>
#include <cmath>

namespace vsim::gui {

QColor barColour(const Palette& palette, BarFill fill) {
  switch (fill) {
    case BarFill::compute:
      return palette.series(0);
    case BarFill::exposed:
      return palette.exposed;
    case BarFill::copies:
      return palette.series(1);
    case BarFill::waiting:
      return palette.grid;
  }
  return palette.grid;
}

Sheet::Sheet(QPainter& painter, const Palette& palette, std::vector<HotSpot>* spots)
    : painter_(painter), palette_(palette), spots_(spots), base_(painter.font()) {}

QFont Sheet::font(Style style) const {
  QFont font = base_;
  const double size = font.pointSizeF() > 0 ? font.pointSizeF() : 9;
  switch (style) {
    case Style::small:
      font.setPointSizeF(size * 0.9);
      break;
    case Style::normal:
      break;
    case Style::bold:
      font.setBold(true);
      break;
    case Style::heading:
      font.setPointSizeF(size * 1.15);
      font.setBold(true);
      break;
    case Style::large:
      font.setPointSizeF(size * 1.6);
      font.setBold(true);
      break;
  }
  return font;
}

double Sheet::lineHeight(Style style) const { return std::ceil(QFontMetricsF(font(style)).height()); }

double Sheet::textWidth(const QString& text, Style style) const {
  return std::ceil(QFontMetricsF(font(style)).horizontalAdvance(text));
}

void Sheet::text(const QRectF& area, const QString& text, const QColor& colour, Style style,
                 Qt::Alignment alignment) {
  const QFont used = font(style);
  painter_.setFont(used);
  painter_.setPen(colour);
  painter_.drawText(area, static_cast<int>(alignment) | Qt::TextSingleLine,
                    QFontMetricsF(used).elidedText(text, Qt::ElideRight, area.width() + 0.5));
  painter_.setFont(base_);
}

double Sheet::paragraph(const QRectF& area, const QString& text, const QColor& colour, Style style) {
  painter_.setFont(font(style));
  painter_.setPen(colour);
  const int flags = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;
  QRectF used;
  painter_.drawText(QRectF(area.left(), area.top(), area.width(), 10000), flags, text, &used);
  painter_.setFont(base_);
  return std::ceil(used.height());
}

void Sheet::bar(const QRectF& area, const QColor& colour, Pattern pattern) {
  if (area.width() <= 0 || area.height() <= 0) return;
  painter_.fillRect(area, colour);
  if (pattern == Pattern::hatched) {
    // Lines instead of a brush: they look the same in SVG and at every scale.
    painter_.save();
    painter_.setClipRect(area);
    painter_.setPen(QPen(palette_.background, 1.2));
    const double height = area.height();
    for (double x = area.left() - height; x < area.right(); x += 6)
      painter_.drawLine(QPointF(x, area.bottom()), QPointF(x + height, area.top()));
    painter_.restore();
  }
}

void Sheet::bar(const QRectF& area, BarFill fill) {
  bar(area, barColour(palette_, fill), fill == BarFill::exposed ? Pattern::hatched : Pattern::solid);
  if (fill == BarFill::waiting && area.width() > 0) {
    painter_.setPen(QPen(palette_.mutedText, 1));
    painter_.setBrush(Qt::NoBrush);
    painter_.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5));
  }
}

void Sheet::spot(const QRectF& area, std::size_t id, const QString& tip) {
  if (spots_ != nullptr) spots_->push_back({area, id, tip});
}

}  // namespace vsim::gui
