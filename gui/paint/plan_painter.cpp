#include "gui/paint/plan_painter.h"

#include <fmt/format.h>

#include <QFontMetricsF>
#include <QImage>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/units.h"
#include "gui/model/ticks.h"

namespace vsim::gui {
namespace {

constexpr double kNamedWidth = 34;        // pixels below which a piece has no name
constexpr double kBlockSpacing = 5;       // pixels between block marks, at least
constexpr double kElementSpacing = 8;     // pixels of an element from which elements are told apart
constexpr double kFewPieces = 1.0 / 6.0;  // pieces per pixel up to which they are drawn one by one

QString count(double value) {
  return QString::fromStdString(core::formatCount(static_cast<std::int64_t>(std::llround(value))));
}

QString rowTitle(const PlanRow& row) {
  if (row.devices == 1) return QString("device %1").arg(count(static_cast<double>(row.firstDevice)));
  return QString("%1-%2 (%3 alike)")
      .arg(count(static_cast<double>(row.firstDevice)), count(static_cast<double>(row.lastDevice())),
           count(static_cast<double>(row.devices)));
}

QColor blend(const QColor& a, const QColor& b, double share) {
  const auto mix = [share](float x, float y) { return static_cast<float>(x * (1 - share) + y * share); };
  return QColor::fromRgbF(mix(a.redF(), b.redF()), mix(a.greenF(), b.greenF()), mix(a.blueF(), b.blueF()));
}

}  // namespace

struct PlanPainter::RowFrame {
  const Palette& palette;
  const PlanPicture& picture;
  const PlanMap& map;
  const std::vector<PlanPiece>& pieces;
  ElementAxis axis;
  QRectF box;  // the row's place
  [[nodiscard]] double x(std::int64_t element) const {
    return box.left() + std::clamp(axis.toX(static_cast<double>(element)), -4.0, box.width() + 4.0);
  }
  [[nodiscard]] QColor colour(const PlanPiece& piece) const {
    if (piece.padding()) return palette.panel;
    const QColor own = tensorColour(palette, piece.tensor);
    const bool dim = picture.selected >= 0 && piece.tensor != picture.selected;
    return dim ? blend(own, palette.background, 0.68) : own;
  }
};

QColor tensorColour(const Palette& palette, std::int64_t tensor) {
  return palette.series(static_cast<std::size_t>(tensor) % 7);  // the eighth is the ink of marks
}

QRectF PlanPainter::rowsArea(const QRectF& area) { return area.adjusted(kLabels, kHead, -8, 0); }

ElementAxis PlanPainter::axis(const PlanPicture& picture, const QRectF& area) {
  return {picture.begin, picture.end, std::max(1.0, rowsArea(area).width())};
}

int PlanPainter::visibleRows(const PlanPicture& picture, const QRectF& area) {
  return std::max(1, static_cast<int>(rowsArea(area).height() / picture.rowHeight));
}

const std::vector<PlanPiece>& PlanPainter::pieces(const PlanMap& map, std::size_t row) {
  const auto key = std::pair(&map, row);
  if (const auto at = kept_.find(key); at != kept_.end()) return at->second;
  if (kept_.size() >= kMostKept) kept_.clear();
  return kept_.emplace(key, map.pieces(row)).first->second;
}

void PlanPainter::draw(QPainter& painter, const Palette& palette, const PlanPicture& picture,
                       const QRectF& area) {
  painter.save();
  painter.setClipRect(area);
  painter.fillRect(area, palette.background);
  painter.setRenderHint(QPainter::Antialiasing, false);
  if (!picture.map) {
    painter.setPen(palette.text);
    painter.drawText(area.adjusted(10, 0, -10, 0), Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap,
                     picture.title + "\n" + picture.message);
    painter.restore();
    return;
  }
  drawHead(painter, palette, picture, area);
  const QRectF rows = rowsArea(area);
  const auto all = static_cast<int>(picture.map->rows().size());
  const QFontMetricsF metrics(painter.font());
  const int last = std::min(all, picture.firstRow + visibleRows(picture, area) + 1);
  for (int row = std::max(0, picture.firstRow); row < last; ++row) {
    const auto index = static_cast<std::size_t>(row);
    const double top = rows.top() + (row - picture.firstRow) * picture.rowHeight;
    const QRectF box(rows.left(), top, rows.width(), picture.rowHeight - (picture.rowHeight > 6 ? 3 : 1));
    if (picture.rowHeight >= metrics.height() * 0.9) {
      painter.setPen(palette.text);
      const QRectF label(area.left() + 6, box.top(), kLabels - 12, box.height());
      painter.drawText(
          label, Qt::AlignVCenter | Qt::AlignRight,
          metrics.elidedText(rowTitle(picture.map->rows()[index]), Qt::ElideMiddle, label.width()));
    }
    drawRow(painter, {palette, picture, *picture.map, pieces(*picture.map, index), axis(picture, area), box});
  }
  painter.restore();
}

void PlanPainter::drawHead(QPainter& painter, const Palette& palette, const PlanPicture& picture,
                           const QRectF& area) {
  const QRectF rows = rowsArea(area);
  const QFontMetricsF metrics(painter.font());
  QFont bold = painter.font();
  bold.setBold(true);
  painter.save();
  painter.setFont(bold);
  painter.setPen(palette.text);
  const QRectF title(area.left() + 8, area.top() + 1, area.width() - 16, 21);
  painter.drawText(title, Qt::AlignVCenter | Qt::AlignLeft,
                   QFontMetricsF(bold).elidedText(picture.title, Qt::ElideRight, title.width()));
  painter.restore();

  const double scale =
      picture.unit == PlanUnit::bytes ? static_cast<double>(picture.map->facts().elementBytes) : 1;
  const ElementAxis x = axis(picture, area);
  painter.setPen(palette.mutedText);
  painter.drawText(QRectF(area.left() + 6, rows.top() - 20, kLabels - 12, 18),
                   Qt::AlignVCenter | Qt::AlignRight,
                   picture.unit == PlanUnit::bytes ? "bytes of the shard" : "elements of the shard");
  const Ticks ticks = niceTicks(picture.begin * scale, picture.end * scale,
                                std::max(2, static_cast<int>(rows.width() / 130)), AxisScale::linear);
  double free = rows.left();
  for (const Tick& tick : ticks.marks) {
    const double element = tick.value / scale;
    if (std::abs(element - std::round(element)) > 1e-6) continue;  // there is nothing between elements
    const double at = rows.left() + x.toX(element);
    if (at < rows.left() - 1 || at > rows.right() + 1) continue;
    painter.setPen(palette.mutedText);
    painter.drawLine(QPointF(at, rows.top() - 5), QPointF(at, rows.top() - 1));
    const QString label = count(tick.value);
    const double width = metrics.horizontalAdvance(label) + 8;
    const double left = std::clamp(at - width / 2, rows.left(), rows.right() - width);
    if (left < free) continue;
    painter.drawText(QRectF(left, rows.top() - 21, width, 16), Qt::AlignCenter, label);
    free = left + width;
    painter.setPen(palette.grid);
    painter.drawLine(QPointF(at, rows.top()), QPointF(at, area.bottom()));
  }
}

void PlanPainter::drawRow(QPainter& painter, const RowFrame& frame) {
  const auto& pieces = frame.pieces;
  if (pieces.empty()) return;
  const auto from = static_cast<std::int64_t>(std::max(0.0, std::floor(frame.axis.begin)));
  const auto to = static_cast<std::int64_t>(std::ceil(frame.axis.end));
  const std::size_t first = pieceAt(pieces, from);
  const std::size_t last = std::min(pieceAt(pieces, to) + 1, pieces.size());
  if (first >= last) return;
  painter.save();
  painter.setClipRect(frame.box.adjusted(-4, -1, 4, 1));
  if (static_cast<double>(last - first) <= frame.box.width() * kFewPieces) {
    ++counts_.pieces;
    drawPieces(painter, frame, first, last);
  } else {
    ++counts_.pixels;
    drawPixels(painter, frame, first);
  }
  drawSelected(painter, frame);
  // Where the shard begins and ends: the dark marks between devices.
  painter.setPen(QPen(frame.palette.text, 2));
  for (const std::int64_t at : {std::int64_t{0}, frame.map.buffer().shardElements()}) {
    const double x = frame.box.left() + frame.axis.toX(static_cast<double>(at));
    if (x >= frame.box.left() - 2 && x <= frame.box.right() + 2)
      painter.drawLine(QPointF(x, frame.box.top()), QPointF(x, frame.box.bottom()));
  }
  painter.restore();
}

void PlanPainter::drawPieces(QPainter& painter, const RowFrame& frame, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) drawPiece(painter, frame, frame.pieces[i]);
  const double element = 1 / frame.axis.perPixel();
  const auto align = static_cast<double>(frame.map.align());
  const double step = element >= kElementSpacing ? 1 : align * element >= kElementSpacing ? align : 0;
  if (step <= 0 || (step == align && align <= 1 && element < kElementSpacing)) return;
  // Alignment rulers; single elements further in.
  painter.setPen(QPen(frame.palette.background, 1, step == 1 ? Qt::SolidLine : Qt::DotLine));
  const double end = std::min(frame.axis.end, static_cast<double>(frame.map.buffer().shardElements()));
  for (double at = std::max(0.0, std::floor(frame.axis.begin / step) * step); at <= end; at += step) {
    const double x = frame.box.left() + frame.axis.toX(at);
    painter.drawLine(QPointF(x, frame.box.top()), QPointF(x, frame.box.bottom()));
  }
}

void PlanPainter::drawPiece(QPainter& painter, const RowFrame& frame, const PlanPiece& piece) {
  const double left = frame.x(piece.begin), right = frame.x(piece.end);
  QRectF box(left, frame.box.top(), std::max(right - left, 1.0), frame.box.height());
  const QColor colour = frame.colour(piece);
  painter.fillRect(box, colour);
  if (piece.padding()) {
    painter.fillRect(box, QBrush(frame.palette.mutedText, Qt::BDiagPattern));
    return;
  }
  drawBlocks(painter, frame, piece, box);
  if (box.width() >= 4) {
    painter.setPen(frame.palette.background);
    painter.drawLine(box.topRight(), box.bottomRight());
  }
  const QRectF seen = box.intersected(frame.box);
  const QFontMetricsF metrics(painter.font());
  const bool whole = frame.map.block(piece.tensor) == frame.map.tensor(piece.tensor).elements;
  if (seen.width() < kNamedWidth || seen.height() < metrics.height() * 0.9) return;
  QString name = QString::fromStdString(frame.map.tensor(piece.tensor).name);
  if (whole && frame.map.tensor(piece.tensor).elements > 1 && frame.map.tensor(piece.tensor).block > 1)
    name += " (whole)";
  if (frame.map.cameFrom(piece)) name.prepend(QChar(0x2039));
  if (frame.map.goesOn(piece)) name.append(QChar(0x203a));
  painter.setPen(inkOn(colour));
  painter.drawText(seen.adjusted(5, 0, -5, 0), Qt::AlignVCenter | Qt::AlignLeft,
                   metrics.elidedText(name, Qt::ElideMiddle, seen.width() - 10));
}

void PlanPainter::drawBlocks(QPainter& painter, const RowFrame& frame, const PlanPiece& piece,
                             const QRectF& box) {
  const std::int64_t block = frame.map.block(piece.tensor);
  const double spacing = static_cast<double>(block) / frame.axis.perPixel();
  if (block > 1 && spacing >= kBlockSpacing) {
    QColor ink = inkOn(frame.colour(piece));
    ink.setAlphaF(0.45F);
    painter.setPen(ink);
    const auto inView = std::max(piece.begin, static_cast<std::int64_t>(std::max(0.0, frame.axis.begin)));
    const std::int64_t from = piece.tensorOffset + (inView - piece.begin);
    for (std::int64_t at = (from / block + 1) * block;; at += block) {
      const std::int64_t local = piece.begin + (at - piece.tensorOffset);
      if (local >= piece.end || static_cast<double>(local) > frame.axis.end) break;
      const double x = frame.x(local);
      painter.drawLine(QPointF(x, box.bottom() - box.height() * 0.2), QPointF(x, box.bottom()));
    }
  }
  const std::int64_t last = piece.tensorOffset + piece.elements();
  const bool cutBefore = piece.tensorOffset % block != 0;
  const bool cutAfter = frame.map.goesOn(piece) && last % block != 0;
  for (const auto& [cut, x] : {std::pair(cutBefore, box.left()), std::pair(cutAfter, box.right())}) {
    if (!cut || x < frame.box.left() - 2 || x > frame.box.right() + 2) continue;
    painter.fillRect(QRectF(x - (x > box.left() ? 4 : 0), box.top(), 4, box.height()), frame.palette.exposed);
  }
}

void PlanPainter::drawPixels(QPainter& painter, const RowFrame& frame, std::size_t first) {
  const int width = std::max(1, static_cast<int>(frame.box.width()));
  QImage line(width, 1, QImage::Format_RGB32);
  auto* out = reinterpret_cast<QRgb*>(line.scanLine(0));
  const QColor background = frame.palette.background;
  using Channels = std::array<double, 3>;
  const auto channels = [](const QColor& c) {
    return Channels{static_cast<double>(c.red()), static_cast<double>(c.green()),
                    static_cast<double>(c.blue())};
  };
  std::array<Channels, 8> bright, dim;
  for (std::size_t i = 0; i < 7; ++i) {
    const QColor colour = frame.palette.series(i);
    bright[i] = channels(colour);
    dim[i] = channels(blend(colour, background, frame.picture.selected >= 0 ? 0.68 : 0.0));
  }
  bright[7] = dim[7] = channels(blend(frame.palette.panel, frame.palette.mutedText, 0.35));  // padding
  const Channels empty = channels(background);
  std::size_t at = first;
  for (int x = 0; x < width; ++x) {
    const double from = frame.axis.toElement(x), to = frame.axis.toElement(x + 1);
    double red = 0, green = 0, blue = 0, covered = 0;
    for (std::size_t i = at; i < frame.pieces.size(); ++i) {
      const PlanPiece& piece = frame.pieces[i];
      if (static_cast<double>(piece.begin) >= to) break;
      if (static_cast<double>(piece.end) <= from) {
        at = i + 1;
        continue;
      }
      const double share =
          (std::min(to, static_cast<double>(piece.end)) - std::max(from, static_cast<double>(piece.begin))) /
          (to - from);
      const auto index = piece.padding() ? 7U : static_cast<std::size_t>(piece.tensor) % 7;
      const Channels& c =
          piece.tensor == frame.picture.selected && !piece.padding() ? bright[index] : dim[index];
      red += share * c[0];
      green += share * c[1];
      blue += share * c[2];
      covered += share;
      if (static_cast<double>(piece.end) <= to) at = i + 1;
      if (static_cast<double>(piece.end) >= to) break;
    }
    const double rest = std::max(0.0, 1 - covered);
    out[x] = qRgb(static_cast<int>(red + rest * empty[0]), static_cast<int>(green + rest * empty[1]),
                  static_cast<int>(blue + rest * empty[2]));
  }
  painter.drawImage(frame.box, line);
}

void PlanPainter::drawSelected(QPainter& painter, const RowFrame& frame) {
  if (frame.picture.selected < 0) return;
  painter.setPen(QPen(frame.palette.critical, 2));
  painter.setBrush(Qt::NoBrush);
  for (const PlanPiece& piece : frame.pieces) {
    if (piece.tensor != frame.picture.selected) continue;
    if (static_cast<double>(piece.end) < frame.axis.begin ||
        static_cast<double>(piece.begin) > frame.axis.end)
      continue;
    const double left = frame.x(piece.begin), right = frame.x(piece.end);
    painter.drawRect(QRectF(left, frame.box.top() + 1, std::max(2.0, right - left), frame.box.height() - 2));
    if (right - left < 3) break;  // runs of one slot lie side by side
  }
}

std::optional<PlanHit> PlanPainter::hit(const PlanPicture& picture, const QRectF& area,
                                        const QPointF& position) {
  const QRectF rows = rowsArea(area);
  if (!picture.map || !rows.contains(position)) return std::nullopt;
  const auto row =
      static_cast<std::int64_t>((position.y() - rows.top()) / picture.rowHeight) + picture.firstRow;
  if (row < 0 || row >= static_cast<std::int64_t>(picture.map->rows().size())) return std::nullopt;
  const double element = axis(picture, area).toElement(position.x() - rows.left());
  if (element < 0 || element >= static_cast<double>(picture.map->buffer().shardElements()))
    return std::nullopt;
  PlanHit hit{
      .row = static_cast<std::size_t>(row), .element = static_cast<std::int64_t>(element), .piece = {}};
  const auto& list = pieces(*picture.map, hit.row);
  const std::size_t at = pieceAt(list, hit.element);
  if (at >= list.size()) return std::nullopt;
  hit.piece = list[at];
  return hit;
}

void drawPlanLegend(QPainter& painter, const Palette& palette, const QRectF& area) {
  const QFontMetricsF metrics(painter.font());
  double x = area.left() + 8;
  const double side = std::min(12.0, area.height() - 4), top = area.center().y() - side / 2;
  const auto word = [&](const QString& text) {
    painter.setPen(palette.text);
    const double width = metrics.horizontalAdvance(text);
    painter.drawText(QRectF(x, area.top(), width + 2, area.height()), Qt::AlignVCenter | Qt::AlignLeft, text);
    x += width + 18;
  };
  for (std::size_t i = 0; i < 3; ++i)
    painter.fillRect(QRectF(x + static_cast<double>(i) * 8, top, 8, side), palette.series(i));
  x += 29;
  word("tensors");
  painter.fillRect(QRectF(x, top, 24, side), palette.panel);
  painter.fillRect(QRectF(x, top, 24, side), QBrush(palette.mutedText, Qt::BDiagPattern));
  x += 29;
  word("padding");
  painter.setPen(QPen(palette.text, 2));
  painter.drawLine(QPointF(x + 3, top), QPointF(x + 3, top + side));
  x += 10;
  word("device boundary");
  painter.fillRect(QRectF(x, top, 24, side), palette.series(4));
  painter.setPen(Qt::black);
  for (int i = 1; i < 4; ++i)
    painter.drawLine(QPointF(x + i * 6, top + side * 0.5), QPointF(x + i * 6, top + side));
  x += 29;
  word("blocks");
  painter.fillRect(QRectF(x, top, 4, side), palette.exposed);
  x += 9;
  word("block cut by the boundary");
  word(QString("%1 name %2 goes on on another device").arg(QChar(0x2039)).arg(QChar(0x203a)));
}

}  // namespace vsim::gui
