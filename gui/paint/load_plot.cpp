#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "gui/model/figure_text.h"
#include "gui/model/ticks.h"
#include "gui/paint/network_painter.h"

namespace vsim::gui {
namespace {

constexpr double kLabels = 128, kRuler = 20, kLegend = 20, kGap = 16;

QString text(const std::string& words) { return QString::fromStdString(words); }

struct Strip {
  const NetworkTier& tier;
  QRectF plot;
  double top = 1;  // load at the upper edge
  [[nodiscard]] double y(double load) const {
    return plot.bottom() - std::min(load / top, 1.0) * plot.height();
  }
};

void drawColumns(QPainter& painter, const Palette& palette, const Strip& strip, const TimeAxis& axis) {
  std::vector<LoadCurve::Summary> columns;
  strip.tier.load.columns(axis, columns);
  QImage image(axis.width, std::max(1, static_cast<int>(strip.plot.height())),
               QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  const double height = image.height();
  for (int x = 0; x < axis.width; ++x) {
    const LoadCurve::Summary& column = columns[static_cast<std::size_t>(x)];
    double base = 0;
    for (std::size_t p = 0; p < kLoadParts; ++p) {
      const double next = base + column.mean[p];
      const int from = static_cast<int>(std::lround(height - std::min(next / strip.top, 1.0) * height));
      const int to = static_cast<int>(std::lround(height - std::min(base / strip.top, 1.0) * height));
      const QRgb colour = palette.slice(classOfPart(p)).rgb();
      for (int y = from; y < to; ++y) reinterpret_cast<QRgb*>(image.scanLine(y))[x] = colour;
      base = next;
    }
    // The highest instant of the pixel, however short: a line, darker than what it stands over.
    const double peak = sumOf(column.peak);
    if (peak <= 0) continue;
    const int y = std::clamp(static_cast<int>(std::lround(height - std::min(peak / strip.top, 1.0) * height)),
                             0, image.height() - 1);
    reinterpret_cast<QRgb*>(image.scanLine(y))[x] = palette.text.rgb();
  }
  painter.drawImage(strip.plot.topLeft(), image);
}

void drawStrip(QPainter& painter, const Palette& palette, const NetworkPicture& picture, const Strip& strip) {
  const QFontMetricsF metrics(painter.font());
  painter.fillRect(strip.plot, palette.panel);
  const TimeAxis axis{picture.zoom, std::max(1, static_cast<int>(strip.plot.width()))};
  for (const double load : {0.25, 0.5, 0.75, 1.0}) {
    if (load > strip.top) continue;
    painter.setPen(
        QPen(load == 1.0 ? palette.exposed : palette.grid, 1, load == 1.0 ? Qt::DashLine : Qt::SolidLine));
    painter.drawLine(QPointF(strip.plot.left(), strip.y(load)), QPointF(strip.plot.right(), strip.y(load)));
  }
  drawColumns(painter, palette, strip, axis);
  painter.setPen(palette.text);
  const QRectF label(strip.plot.left() - kLabels + 8, strip.plot.top(), kLabels - 52,
                     strip.plot.height() + kGap);
  QFont bold = painter.font();
  const QFont normal = bold;
  bold.setBold(true);
  painter.setFont(bold);
  painter.drawText(label, Qt::AlignTop | Qt::AlignLeft, text(strip.tier.name));
  painter.setFont(normal);
  painter.setPen(palette.mutedText);
  painter.drawText(label.adjusted(0, metrics.height(), 0, 0), Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap,
                   text(bandwidthText(strip.tier.perGpu)) + "\na GPU");
  double free = strip.plot.bottom() + 16;  // marks from the bottom up, as many as have room
  for (const double load : {0.0, 1.0, 2.0, 0.5}) {
    const double y = strip.y(load);
    if (load > strip.top ||
        (load == 0.5 ? std::min(strip.plot.bottom(), strip.y(0)) - y < 17 || y - strip.y(1) < 17
                     : free - y < 16))
      continue;
    painter.drawText(QRectF(strip.plot.left() - 48, y - 8, 44, 16), Qt::AlignRight | Qt::AlignVCenter,
                     QString("%1 %").arg(100 * load));
    if (load != 0.5) free = y;
  }
}

void drawTimeRuler(QPainter& painter, const Palette& palette, const NetworkPicture& picture,
                   const QRectF& plots, double bottom) {
  const TimeAxis axis{picture.zoom, std::max(1, static_cast<int>(plots.width()))};
  const double scale = 1e-12;
  const Ticks ticks = niceTicks(static_cast<double>(picture.zoom.begin) * scale,
                                static_cast<double>(picture.zoom.end) * scale,
                                std::max(2, static_cast<int>(plots.width() / 110)), AxisScale::linear);
  painter.setPen(palette.mutedText);
  for (const Tick& tick : ticks.marks) {
    const double x = plots.left() + axis.toX(core::picosecondsFromSeconds(tick.value));
    if (x < plots.left() - 1 || x > plots.right() + 1) continue;
    painter.drawLine(QPointF(x, bottom - kRuler), QPointF(x, bottom - kRuler + 4));
    painter.drawText(QRectF(x - 55, bottom - kRuler + 3, 110, 16), Qt::AlignCenter,
                     text(timeText(tick.value)));
  }
}

}  // namespace

LoadLayout loadLayout(const NetworkMap& map, const QRectF& area) {
  LoadLayout layout;
  for (std::size_t t = 0; t < kLinkTiers; ++t)
    if (map.tier(static_cast<LinkTier>(t)).present) layout.tiers.push_back(static_cast<LinkTier>(t));
  layout.plots = area.adjusted(kLabels, kLegend + 4, -30, -kRuler);
  const auto count = static_cast<double>(std::max<std::size_t>(1, layout.tiers.size()));
  const double height = std::max(8.0, (layout.plots.height() - kGap * (count - 1)) / count);
  for (std::size_t i = 0; i < layout.tiers.size(); ++i)
    layout.strips.emplace_back(layout.plots.left(),
                               layout.plots.top() + static_cast<double>(i) * (height + kGap),
                               layout.plots.width(), height);
  return layout;
}

void drawLoads(QPainter& painter, const Palette& palette, const NetworkPicture& picture, const QRectF& area) {
  painter.save();
  painter.setClipRect(area);
  painter.fillRect(area, palette.background);
  const NetworkMap& map = *picture.map;
  const LoadLayout layout = loadLayout(map, area);
  const QFontMetricsF metrics(painter.font());
  double x = area.left() + kLabels;
  const auto word = [&](const QString& words) {
    painter.setPen(palette.text);
    painter.drawText(QRectF(x, area.top() + 2, 400, kLegend - 2), Qt::AlignVCenter | Qt::AlignLeft, words);
    x += metrics.horizontalAdvance(words) + 20;
  };
  for (std::size_t p = 0; p < kLoadParts; ++p) {
    painter.fillRect(QRectF(x, area.top() + 6, 11, 11), palette.slice(classOfPart(p)));
    x += 16;
    word(text(std::string(kSliceClassNames[static_cast<std::size_t>(classOfPart(p))])));
  }
  painter.setPen(QPen(palette.text, 1));
  painter.drawLine(QPointF(x, area.top() + 11), QPointF(x + 12, area.top() + 11));
  x += 17;
  word("peak in the pixel");
  for (std::size_t i = 0; i < layout.tiers.size(); ++i) {
    const NetworkTier& tier = map.tier(layout.tiers[i]);
    const double peak = sumOf(tier.load.summary(map.whole()).peak);
    const double top = std::max(1.0, std::ceil(peak * 10) / 10);
    drawStrip(painter, palette, picture, {tier, layout.strips[i], top});
    if (picture.selected == layout.tiers[i]) {
      painter.setPen(QPen(palette.critical, 2));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(layout.strips[i].adjusted(-1, -1, 1, 1));
    }
  }
  drawTimeRuler(painter, palette, picture, layout.plots, area.bottom());
  const TimeAxis axis{picture.zoom, std::max(1, static_cast<int>(layout.plots.width()))};
  painter.setClipRect(layout.plots.adjusted(-1, -2, 1, 2));
  QColor shade = palette.text;
  shade.setAlphaF(0.12F);
  if (picture.limit) {  // what is outside of the limit does not count
    const double from = layout.plots.left() + axis.toX(picture.limit->begin),
                 to = layout.plots.left() + axis.toX(picture.limit->end);
    painter.fillRect(QRectF(layout.plots.left(), layout.plots.top(),
                            std::max(0.0, from - layout.plots.left()), layout.plots.height()),
                     shade);
    painter.fillRect(
        QRectF(to, layout.plots.top(), std::max(0.0, layout.plots.right() - to), layout.plots.height()),
        shade);
  }
  painter.setPen(QPen(palette.mutedText, 1, Qt::DotLine));
  for (const core::Picoseconds end : map.rank().stepEnd) {
    const double at = layout.plots.left() + axis.toX(end);
    painter.drawLine(QPointF(at, layout.plots.top()), QPointF(at, layout.plots.bottom()));
  }
  for (const TimeRange& range : picture.highlighted) {
    if (range.end <= axis.view.begin || range.begin >= axis.view.end) continue;
    const double from = layout.plots.left() + axis.toX(range.begin),
                 to = layout.plots.left() + axis.toX(range.end);
    painter.setPen(QPen(palette.critical, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(from, layout.plots.top(), std::max(2.0, to - from), layout.plots.height()) &
                     layout.plots.adjusted(-4, 0, 4, 0));
  }
  if (picture.cursor) {
    painter.setPen(QPen(palette.accent, 2));
    const double at = layout.plots.left() + axis.toX(*picture.cursor);
    painter.drawLine(QPointF(at, layout.plots.top()), QPointF(at, layout.plots.bottom()));
  }
  painter.restore();
}

}  // namespace vsim::gui
