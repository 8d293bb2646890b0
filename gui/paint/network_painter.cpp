#include "gui/paint/network_painter.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "core/base/units.h"
#include "gui/model/figure_text.h"

namespace vsim::gui {
namespace {

constexpr double kBoxWidth = 204, kBoxHeight = 46, kWordsWidth = 270;

QString percent(double share) { return QString("%1 %").arg(100 * share, 0, 'f', share < 0.0995 ? 2 : 1); }
QString text(const std::string& words) { return QString::fromStdString(words); }

QFont boldOf(const QPainter& painter) {
  QFont font = painter.font();
  font.setBold(true);
  return font;
}

/// The tier whose links lead from the layer up to the next one; none: they are joined by other means.
std::optional<LinkTier> tierAbove(const NetworkMap& map, std::size_t layer) {
  const std::string& name = map.layers()[layer].name;
  LinkTier tier = LinkTier::local;
  if (name == "nodes") tier = LinkTier::nic;
  if (name == "leaf switches") tier = LinkTier::spine;
  if (name == "NVLink domains") return std::nullopt;
  if (!map.tier(tier).present) return std::nullopt;
  return tier;
}

void drawBox(QPainter& painter, const Palette& palette, const NetworkLayer& layer, const QRectF& box) {
  painter.setPen(palette.mutedText);
  painter.setBrush(palette.panel);
  if (layer.count > 1)
    for (const int offset : {6, 3}) painter.drawRoundedRect(box.translated(offset, -offset), 4, 4);
  painter.drawRoundedRect(box, 4, 4);
  painter.setPen(palette.text);
  const QFont normal = painter.font();
  painter.setFont(boldOf(painter));
  painter.drawText(QRectF(box.left(), box.top() + 4, box.width(), 18), Qt::AlignCenter,
                   text(core::formatCount(layer.count)) + " " + text(layer.name));
  painter.setFont(normal);
  painter.setPen(palette.mutedText);
  QString detail;
  if (layer.linksDown > 0 && layer.linksUp > 0)
    detail = QString("each %1 links down, %2 up").arg(layer.linksDown).arg(layer.linksUp);
  else if (layer.linksDown > 0)
    detail = QString("each %1 links down").arg(layer.linksDown);
  else
    detail = text(layer.note);
  painter.drawText(QRectF(box.left() + 4, box.top() + 23, box.width() - 8, 18), Qt::AlignCenter,
                   QFontMetricsF(painter.font()).elidedText(detail, Qt::ElideRight, box.width() - 8));
}

/// Mean load by kind of collective, with a mark at the peak and one at the line rate.
void drawGauge(QPainter& painter, const Palette& palette, const NetworkPicture& picture,
               const NetworkTier& tier, const QRectF& area) {
  const LoadCurve::Summary load = tier.load.summary(picture.window());
  const LoadParts now = picture.cursor ? tier.load.at(*picture.cursor) : load.mean;
  const double full = std::max({1.0, sumOf(load.peak), sumOf(now)});
  const auto x = [&](double share) { return area.left() + share / full * area.width(); };
  painter.fillRect(area, palette.panel);
  double base = 0;
  for (std::size_t p = 0; p < kLoadParts; ++p) {
    painter.fillRect(QRectF(x(base), area.top(), x(base + now[p]) - x(base), area.height()),
                     palette.slice(classOfPart(p)));
    base += now[p];
  }
  painter.setPen(palette.mutedText);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(area);
  painter.setPen(QPen(palette.exposed, 2, Qt::DashLine));
  painter.drawLine(QPointF(x(1), area.top() - 3), QPointF(x(1), area.bottom() + 3));
  painter.setPen(QPen(palette.text, 2));
  painter.drawLine(QPointF(x(sumOf(load.peak)), area.top() - 3),
                   QPointF(x(sumOf(load.peak)), area.bottom() + 3));
}

/// Name, rate and loads of a link beside its band.
void drawLinkText(QPainter& painter, const Palette& palette, const NetworkPicture& picture, LinkTier which,
                  const QRectF& area) {
  const NetworkTier& tier = picture.map->tier(which);
  const LoadCurve::Summary load = tier.load.summary(picture.window());
  const QFontMetricsF metrics(painter.font());
  const double line = std::min(17.0, area.height() / 3);
  const double top = area.center().y() - 1.5 * line;
  const auto put = [&](int row, const QString& words, const QColor& colour) {
    painter.setPen(colour);
    painter.drawText(QRectF(area.left(), top + row * line, area.width(), line),
                     Qt::AlignVCenter | Qt::AlignLeft,
                     metrics.elidedText(words, Qt::ElideRight, area.width()));
  };
  const QFont normal = painter.font();
  painter.setFont(boldOf(painter));
  put(0,
      text(tier.name) + ": " + text(bandwidthText(tier.perGpu)) + " a GPU" +
          (tier.upperBound ? ", upper bound" : ""),
      palette.text);
  painter.setFont(normal);
  if (picture.cursor) {
    const double now = sumOf(tier.load.at(*picture.cursor));
    put(1, "at the cursor " + percent(now) + " (" + text(bandwidthText(now * tier.perGpu)) + ")",
        palette.text);
  } else {
    put(1, text(tier.between), palette.mutedText);
  }
  put(2,
      QString("%1: mean %2, peak %3")
          .arg(picture.limit ? "limit" : "last step", percent(sumOf(load.mean)), percent(sumOf(load.peak))),
      palette.text);
}

}  // namespace

QColor loadColour(const Palette& palette, double load) {
  struct Stop {
    double at;
    QColor colour;
  };
  const std::array<Stop, 4> stops{Stop{0, palette.dark ? QColor(0x3a, 0x40, 0x48) : QColor(0xdd, 0xe4, 0xec)},
                                  Stop{0.35, QColor(0x56, 0xb4, 0xe9)}, Stop{0.7, QColor(0xe6, 0x9f, 0x00)},
                                  Stop{1, QColor(0xd5, 0x5e, 0x00)}};
  const double value = std::clamp(load, 0.0, 1.0);
  std::size_t i = 1;
  while (i + 1 < stops.size() && stops[i].at < value) ++i;
  const double share = (value - stops[i - 1].at) / (stops[i].at - stops[i - 1].at);
  const QColor &a = stops[i - 1].colour, &b = stops[i].colour;
  const auto mix = [share](int x, int y) { return static_cast<int>(std::lround(x + share * (y - x))); };
  return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

void drawLoadScale(QPainter& painter, const Palette& palette, const QRectF& area) {
  const QFontMetricsF metrics(painter.font());
  const QString name = "share of the line rate";
  const double words = metrics.horizontalAdvance(name) + 10;
  painter.setPen(palette.mutedText);
  painter.drawText(QRectF(area.left(), area.top(), words, 14), Qt::AlignVCenter | Qt::AlignLeft, name);
  const QRectF bar(area.left() + words, area.top() + 2, std::max(60.0, area.width() - words - 34), 10);
  for (int x = 0; x < static_cast<int>(bar.width()); ++x)
    painter.fillRect(QRectF(bar.left() + x, bar.top(), 1.5, bar.height()),
                     loadColour(palette, x / bar.width()));
  for (const int at : {0, 50, 100}) {
    const double x = bar.left() + bar.width() * at / 100;
    painter.setPen(palette.mutedText);
    painter.drawLine(QPointF(x, bar.bottom()), QPointF(x, bar.bottom() + 3));
    painter.drawText(QRectF(x - 25, bar.bottom() + 3, 50, 14), Qt::AlignCenter, QString("%1 %").arg(at));
  }
}

std::vector<LinkPlace> drawTopology(QPainter& painter, const Palette& palette, const NetworkPicture& picture,
                                    const QRectF& area) {
  std::vector<LinkPlace> places;
  const NetworkMap& map = *picture.map;
  painter.save();
  painter.setClipRect(area);
  painter.fillRect(area, palette.background);
  painter.setRenderHint(QPainter::Antialiasing, true);
  painter.setPen(palette.text);
  const QFontMetricsF metrics(painter.font());
  painter.drawText(QRectF(area.left() + 8, area.top() + 2, area.width() - 16, 18),
                   Qt::AlignVCenter | Qt::AlignLeft,
                   metrics.elidedText(text(map.summary()), Qt::ElideRight, area.width() - 16));
  drawLoadScale(painter, palette,
                QRectF(area.left() + 8, area.bottom() - 32, std::min(360.0, area.width() - 16), 30));
  const QRectF inner = area.adjusted(8, 30, -8, -40);
  const auto layers = static_cast<double>(map.layers().size());
  const double pitch = layers > 1 ? (inner.height() - kBoxHeight) / (layers - 1) : 0;
  double fastest = 0;
  for (std::size_t t = 0; t < kLinkTiers; ++t)
    if (map.tier(static_cast<LinkTier>(t)).present)
      fastest = std::max(fastest, map.tier(static_cast<LinkTier>(t)).perGpu);
  const auto boxOf = [&](std::size_t i) {  // the first tier is at the bottom
    return QRectF(inner.left() + 4, inner.bottom() - kBoxHeight - static_cast<double>(i) * pitch, kBoxWidth,
                  kBoxHeight);
  };
  for (std::size_t i = 0; i + 1 < map.layers().size(); ++i) {
    const auto tier = tierAbove(map, i);
    const QRectF below = boxOf(i), above = boxOf(i + 1);
    const QRectF gap(below.left(), above.bottom(), kBoxWidth, below.top() - above.bottom());
    if (!tier) continue;
    const NetworkTier& link = map.tier(*tier);
    const double load = picture.cursor ? sumOf(link.load.at(*picture.cursor))
                                       : sumOf(link.load.summary(picture.window()).mean);
    const double width = 8 + 44 * std::sqrt(link.perGpu / fastest);
    const QRectF band(gap.center().x() - width / 2, gap.top(), width, gap.height());
    const bool marked = picture.selected == tier || picture.hovered == tier;
    painter.setPen(marked ? QPen(palette.critical, picture.selected == tier ? 2.5 : 1.5)
                          : QPen(palette.mutedText, 1));
    painter.setBrush(loadColour(palette, load));
    painter.drawRect(band);
    const QRectF place(gap.right() + 16, gap.top() - 8, inner.right() - gap.right() - 16, gap.height() + 16);
    QRectF words = place;
    if (place.width() > kWordsWidth + 120) {
      words.setWidth(kWordsWidth);
      const double height = std::min(18.0, place.height() - 8);
      drawGauge(painter, palette, picture, link,
                QRectF(words.right() + 12, place.center().y() - height / 2,
                       place.right() - words.right() - 30, height));
    }
    drawLinkText(painter, palette, picture, *tier, words);
    places.push_back({*tier, gap.united(place)});
  }
  const double beside = inner.left() + 4 + kBoxWidth + 16 + kWordsWidth + 12;
  if (places.size() > 0 && area.right() - beside > 150) {  // there are gauges
    painter.setPen(palette.mutedText);
    painter.drawText(
        QRectF(beside, area.bottom() - 36, area.right() - beside - 8, 36),
        Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap,
        QString("bar: %1 load; line: peak; dashed: line rate").arg(picture.cursor ? "present" : "mean"));
  }
  for (std::size_t i = 0; i < map.layers().size(); ++i) drawBox(painter, palette, map.layers()[i], boxOf(i));
  painter.restore();
  return places;
}

namespace {

QRectF cellsArea(const TrafficMatrix& matrix, const QRectF& area) {
  const QRectF room = area.adjusted(60, 58, -104, -12);
  const double side = std::max(1.0, std::min(room.width(), room.height()));
  const double cell =
      std::max(1.0, std::floor(side / static_cast<double>(std::max<std::int64_t>(1, matrix.bins))));
  const double all = cell * static_cast<double>(matrix.bins);
  return {room.left(), room.top(), all, all};
}

}  // namespace

void drawTraffic(QPainter& painter, const Palette& palette, const NetworkMap& map,
                 const TrafficMatrix& matrix, const QRectF& area) {
  painter.save();
  painter.setClipRect(area);
  painter.fillRect(area, palette.background);
  painter.setRenderHint(QPainter::Antialiasing, false);
  const QFont normal = painter.font();
  painter.setFont(boldOf(painter));
  painter.setPen(palette.text);
  painter.drawText(QRectF(area.left() + 8, area.top() + 2, area.width() - 16, 18),
                   Qt::AlignVCenter | Qt::AlignLeft,
                   matrix.nodesPerBin > 1 ? QString("Bytes sent, blocks of %1 nodes").arg(matrix.nodesPerBin)
                                          : QString("Bytes sent, node to node"));
  painter.setFont(normal);
  const QRectF cells = cellsArea(matrix, area);
  double most = 0;
  for (const double bytes : matrix.bytes) most = std::max(most, bytes);
  const double side = cells.width() / static_cast<double>(std::max<std::int64_t>(1, matrix.bins));
  // Square roots: rings beside the diagonal would leave all else invisible.
  const auto shade = [&](double bytes) {
    return loadColour(palette, most > 0 ? std::sqrt(bytes / most) : 0);
  };
  for (std::int64_t from = 0; from < matrix.bins; ++from)
    for (std::int64_t to = 0; to < matrix.bins; ++to)
      painter.fillRect(QRectF(cells.left() + static_cast<double>(to) * side,
                              cells.top() + static_cast<double>(from) * side, side, side),
                       matrix.at(from, to) > 0 ? shade(matrix.at(from, to)) : palette.panel);
  painter.setPen(palette.mutedText);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(cells);
  painter.drawText(QRectF(cells.left(), cells.top() - 34, cells.width() + 60, 16),
                   Qt::AlignLeft | Qt::AlignVCenter, "to node");
  const QString last = text(core::formatCount(matrix.nodes - 1));
  painter.drawText(QRectF(cells.left(), cells.top() - 18, 40, 16), Qt::AlignLeft | Qt::AlignVCenter, "0");
  painter.drawText(QRectF(cells.right() - 60, cells.top() - 18, 60, 16), Qt::AlignRight | Qt::AlignVCenter,
                   last);
  painter.drawText(QRectF(cells.left() - 58, cells.top(), 52, 16), Qt::AlignRight | Qt::AlignVCenter,
                   "from 0");
  painter.drawText(QRectF(cells.left() - 58, cells.bottom() - 16, 52, 16), Qt::AlignRight | Qt::AlignVCenter,
                   last);
  const QRectF scale(cells.right() + 14, cells.top(), 12, std::min(140.0, cells.height()));
  for (int y = 0; y < static_cast<int>(scale.height()); ++y)
    painter.fillRect(QRectF(scale.left(), scale.bottom() - y - 1, scale.width(), 1.5),
                     loadColour(palette, y / scale.height()));
  painter.setPen(palette.mutedText);
  for (const double share : {0.0, 0.5, 1.0})
    painter.drawText(QRectF(scale.right() + 4, scale.bottom() - share * scale.height() - 8, 78, 16),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     text(core::formatBytes(static_cast<core::Bytes>(most * share * share))));
  if (map.gpus() <= map.gpusPerNode())
    painter.drawText(QRectF(cells.right() + 8, cells.bottom() - 34, area.right() - cells.right() - 8, 34),
                     Qt::AlignLeft | Qt::TextWordWrap, "one node");
  painter.restore();
}

std::optional<TrafficCell> trafficCellAt(const TrafficMatrix& matrix, const QRectF& area,
                                         const QPointF& position) {
  const QRectF cells = cellsArea(matrix, area);
  if (matrix.bins < 1 || !cells.contains(position)) return std::nullopt;
  const double side = cells.width() / static_cast<double>(matrix.bins);
  const auto bin = [&](double offset) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(offset / side), 0, matrix.bins - 1);
  };
  return TrafficCell{bin(position.y() - cells.top()), bin(position.x() - cells.left())};
}

QString describeCell(const TrafficMatrix& matrix, const TrafficCell& cell) {
  const auto nodes = [&](std::int64_t bin) {
    const std::int64_t first = bin * matrix.nodesPerBin;
    const std::int64_t last = std::min(first + matrix.nodesPerBin, matrix.nodes) - 1;
    return first == last ? QString("node %1").arg(first) : QString("nodes %1 to %2").arg(first).arg(last);
  };
  return QString("from %1\nto %2\n%3 in the range")
      .arg(nodes(cell.from), nodes(cell.to),
           text(core::formatBytes(static_cast<core::Bytes>(matrix.at(cell.from, cell.to)))));
}

}  // namespace vsim::gui
