#include "gui/paint/memory_plot.h"

#include <QFontMetrics>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

namespace vsim::gui {
namespace {

constexpr int kPad = 6;
constexpr double kLimitInSight = 0.25;  // the limit is on the axis if a quarter of it is in use

/// A label on a plate, kept inside `bounds`.
void drawTag(QPainter& painter, const QRect& bounds, QPointF anchor, const QString& text,
             const QColor& plate) {
  const QFontMetrics metrics(painter.font());
  QRectF box(0, 0, metrics.horizontalAdvance(text) + 10, metrics.height() + 2);
  box.moveTopLeft(anchor);
  if (box.right() > bounds.right()) box.moveRight(bounds.right());
  if (box.left() < bounds.left()) box.moveLeft(bounds.left());
  if (box.bottom() > bounds.bottom()) box.moveBottom(bounds.bottom());
  if (box.top() < bounds.top()) box.moveTop(bounds.top());
  painter.fillRect(box, plate);
  painter.setPen(inkOn(plate));
  painter.drawText(box, Qt::AlignCenter, text);
}

bool inside(const TimeRange& view, core::Picoseconds time) { return time >= view.begin && time < view.end; }

}  // namespace

void MemoryPlotPainter::setPalette(const Palette& palette) {
  palette_ = &palette;
  key_ = {};
}

std::vector<MemoryLegendEntry> MemoryPlotPainter::legend(const MemoryData& data, const Palette& palette) {
  using Look = MemoryLegendEntry::Look;
  std::vector<MemoryLegendEntry> entries;
  const MemoryParts peak = data.curve.partsAfter(data.curve.peak());
  for (std::size_t p = 0; p < kMemoryParts; ++p) {
    if (data.curve.extent(-1, data.curve.size()).allocated.most == data.curve.peakWithout(p) && peak[p] == 0)
      continue;  // nothing of it anywhere near the peak
    const std::string_view name = memoryPartName(p);
    entries.push_back(
        {memoryPartColor(palette, p),
         QString::fromUtf8(name.data(), static_cast<int>(name.size())) + " " + bytesText(peak[p])});
  }
  entries.push_back({palette.mutedText, "reserved, nothing in it", Look::hatched});
  entries.push_back({palette.text, "reserved", Look::line});
  if (data.limit.allocator() > 0) entries.push_back({palette.exposed, "out-of-memory line", Look::dashed});
  return entries;
}

MemoryPlotGeometry MemoryPlotPainter::geometry(const QRect& area, const MemoryData* data,
                                               const MemoryPlotState& state, const QFont& font) const {
  const QFontMetrics metrics(font);
  MemoryPlotGeometry g;
  const int left = metrics.horizontalAdvance("888.8 GiB") + 2 * kPad;
  g.plot = area.adjusted(left, metrics.height() / 2 + kPad, -kPad, -(metrics.height() + 2 * kPad + 4));
  g.plot.setWidth(std::max(1, g.plot.width()));
  g.plot.setHeight(std::max(1, g.plot.height()));
  g.axis = {state.view, g.plot.width()};
  g.byEvent = state.byEvent;
  if (data == nullptr) return g;
  const std::int64_t unit = MemoryCurve::kEventUnit;
  const std::int64_t first = g.byEvent ? state.view.begin / unit + 1 : data->curve.firstAt(state.view.begin);
  const std::int64_t end =
      g.byEvent ? (state.view.end + unit - 1) / unit : data->curve.firstAt(state.view.end);
  core::Bytes most = data->curve.extent(std::max<std::int64_t>(-1, first - 1), end).reserved.most;
  const core::Bytes limit = data->limit.allocator();
  if (state.wholeBoard || static_cast<double>(most) >= kLimitInSight * static_cast<double>(limit))
    most = std::max(most, limit);
  g.top = std::max<core::Bytes>(1024, most + most / 12);
  return g;
}

const MemoryExtent* MemoryPlotPainter::columnAt(int x) const {
  if (columns_.empty() || plot_.width() < 1 || x < plot_.left() || x > plot_.right()) return nullptr;
  const auto index =
      static_cast<std::size_t>(x - plot_.left()) * columns_.size() / static_cast<std::size_t>(plot_.width());
  const MemoryExtent& column = columns_[std::min(index, columns_.size() - 1)];
  return column.empty() ? nullptr : &column;
}

void MemoryPlotPainter::paint(QPainter& painter, const QRect& area, const MemoryData* data,
                              const MemoryPlotState& state) {
  painter.fillRect(area, palette_->background);
  if (data == nullptr) {
    columns_.clear();
    return;
  }
  const MemoryPlotGeometry g = geometry(area, data, state, painter.font());
  if (g.plot.height() < 10) return;
  const double ratio = painter.device() == nullptr ? 1 : painter.device()->devicePixelRatioF();
  const Key key{data, state.view, g.plot, g.top, ratio, g.byEvent};
  if (!(key == key_)) drawAreas(*data, g, ratio, areas_);
  key_ = key;
  plot_ = g.plot;
  painter.drawImage(g.plot.topLeft(), areas_);
  painter.setRenderHint(QPainter::Antialiasing, false);
  drawAxes(painter, g);
  drawSteps(painter, g, *data);
  for (const core::Index buffer : state.selected) drawSelected(painter, g, *data, buffer);
  drawLimit(painter, g, *data);
  drawCursors(painter, g, *data, state);
  drawPeak(painter, g, *data);
}

void MemoryPlotPainter::drawAxes(QPainter& painter, const MemoryPlotGeometry& g) const {
  const QFontMetrics metrics(painter.font());
  QColor grid = palette_->text;
  grid.setAlphaF(0.14F);
  for (const AxisTick& tick : byteTicks(g.top, std::max(2, g.plot.height() / (3 * metrics.height())))) {
    const int y = static_cast<int>(std::lround(g.y(tick.value)));
    painter.setPen(grid);
    if (tick.value > 0) painter.drawLine(g.plot.left(), y, g.plot.right(), y);
    painter.setPen(palette_->mutedText);
    painter.drawText(QRect(0, y - metrics.height() / 2, g.plot.left() - kPad, metrics.height()),
                     Qt::AlignRight | Qt::AlignVCenter, tick.label);
  }
  const int wide = metrics.horizontalAdvance("8888.888 ms") + 24;
  const int most = std::max(2, g.plot.width() / wide);
  for (const AxisTick& tick : g.byEvent ? eventTicks(g.axis.view, most) : timeTicks(g.axis.view, most)) {
    const int x = g.plot.left() + static_cast<int>(g.axis.toX(tick.value));
    painter.setPen(palette_->mutedText);
    painter.drawLine(x, g.plot.bottom() + 1, x, g.plot.bottom() + 5);
    const int half = wide / 2;
    painter.drawText(
        QRect(std::max(g.plot.left() - kPad, x - half), g.plot.bottom() + 7, wide, metrics.height()),
        x - half < g.plot.left() - kPad ? Qt::AlignLeft : Qt::AlignHCenter, tick.label);
  }
  painter.setPen(palette_->mutedText);
  painter.drawText(QRect(0, g.plot.bottom() + 7, g.plot.left() - 3 * kPad, metrics.height()), Qt::AlignRight,
                   g.byEvent ? "event" : "time");
  painter.drawLine(g.plot.bottomLeft() + QPoint(0, 1), g.plot.bottomRight() + QPoint(0, 1));
}

void MemoryPlotPainter::drawSteps(QPainter& painter, const MemoryPlotGeometry& g,
                                  const MemoryData& data) const {
  const std::vector<core::Picoseconds>& begins = data.curve.rank().stepBegin;
  const QFontMetrics metrics(painter.font());
  int free = g.plot.left() - 1000;  // labels do not run into each other
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::int64_t place = g.placeOfTime(data.curve, begins[i]);
    if (!inside(g.axis.view, place)) continue;
    const int x = g.plot.left() + static_cast<int>(g.axis.toX(place));
    painter.setPen(QPen(palette_->mutedText, 1, Qt::DotLine));
    painter.drawLine(x, g.plot.top(), x, g.plot.bottom());
    const QString label = QString("step %1").arg(i);
    if (x < free + 8) continue;
    painter.setPen(palette_->mutedText);
    painter.drawText(x + 4, g.plot.top() + metrics.ascent(), label);
    free = x + metrics.horizontalAdvance(label);
  }
}

void MemoryPlotPainter::drawLimit(QPainter& painter, const MemoryPlotGeometry& g,
                                  const MemoryData& data) const {
  const core::Bytes limit = data.limit.allocator();
  if (limit <= 0) return;
  const QString parts = QString("limit %1 = board %2 \u2212 context %3 \u2212 NCCL %4")
                            .arg(bytesText(limit), bytesText(data.limit.board), bytesText(data.limit.context),
                                 bytesText(data.limit.nccl));
  const QFontMetrics metrics(painter.font());
  if (limit > g.top) {  // below the names of the steps
    painter.setPen(palette_->mutedText);
    painter.drawText(g.plot.adjusted(0, 4 + metrics.height(), -6, 0), Qt::AlignRight | Qt::AlignTop,
                     "\u2191 " + parts);
    return;
  }
  const int y = static_cast<int>(std::lround(g.y(limit)));
  painter.setPen(QPen(palette_->exposed, 2, Qt::DashLine));
  painter.drawLine(g.plot.left(), y, g.plot.right(), y);
  // Not where the names of the steps are.
  const double above =
      y - metrics.height() - 5 > g.plot.top() + metrics.height() ? y - metrics.height() - 5 : y + 4;
  drawTag(painter, g.plot, {g.plot.right() - 8.0 - metrics.horizontalAdvance(parts), above}, parts,
          palette_->background);
}

void MemoryPlotPainter::drawPeak(QPainter& painter, const MemoryPlotGeometry& g,
                                 const MemoryData& data) const {
  const std::int64_t peak = data.curve.peak();
  if (peak < 0 || !inside(g.axis.view, g.placeOf(data.curve, peak))) return;
  const double x = g.plot.left() + g.axis.toX(g.placeOf(data.curve, peak)),
               y = g.y(data.curve.allocated(peak));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(palette_->critical);
  painter.setPen(QPen(palette_->background, 1));
  painter.drawPolygon(QPolygonF({{x, y}, {x - 6, y - 9}, {x + 6, y - 9}}));
  painter.setRenderHint(QPainter::Antialiasing, false);
  const QString text =
      QString("peak %1 at %2").arg(bytesText(data.curve.allocated(peak)), timeText(data.curve.time(peak)));
  const QFontMetrics metrics(painter.font());
  drawTag(painter, g.plot, {x + 9, y - metrics.height() - 4}, text, palette_->critical);
}

void MemoryPlotPainter::drawSelected(QPainter& painter, const MemoryPlotGeometry& g, const MemoryData& data,
                                     core::Index buffer) const {
  constexpr int kHeight = 6;
  const auto& all = data.lifetimes.all();
  for (std::int64_t i = data.lifetimes.firstOf(buffer); i >= 0;
       i = all[static_cast<std::size_t>(i)].nextOfBuffer) {
    const Lifetime& l = all[static_cast<std::size_t>(i)];
    const std::int64_t begin = g.placeOf(data.curve, l.begin);
    const std::int64_t end = l.end != kNeverFreed ? g.placeOf(data.curve, l.end)
                             : g.byEvent          ? data.curve.size() * MemoryCurve::kEventUnit
                                                  : data.curve.whole().end;
    const double a = std::clamp(g.axis.toX(begin), 0.0, double(g.plot.width()));
    const double b = std::clamp(g.axis.toX(end), 0.0, double(g.plot.width()));
    if (end < g.axis.view.begin || begin >= g.axis.view.end) continue;
    const QRectF bar(g.plot.left() + a, g.plot.bottom() + 1 - kHeight, std::max(2.0, b - a), kHeight);
    painter.fillRect(bar, palette_->accent);
    painter.setPen(palette_->background);
    painter.drawRect(bar);
  }
}

void MemoryPlotPainter::drawCursors(QPainter& painter, const MemoryPlotGeometry& g, const MemoryData& data,
                                    const MemoryPlotState& state) const {
  const auto xOf = [&](std::int64_t time) { return g.plot.left() + static_cast<int>(g.axis.toX(time)); };
  if (state.limit) {
    QColor veil = palette_->background;
    veil.setAlphaF(0.6F);
    const int a =
        std::clamp(xOf(g.placeOfTime(data.curve, state.limit->begin)), g.plot.left(), g.plot.right() + 1);
    const int b =
        std::clamp(xOf(g.placeOfTime(data.curve, state.limit->end)), g.plot.left(), g.plot.right() + 1);
    painter.fillRect(QRect(g.plot.left(), g.plot.top(), a - g.plot.left(), g.plot.height()), veil);
    painter.fillRect(QRect(b, g.plot.top(), g.plot.right() + 1 - b, g.plot.height()), veil);
  }
  const core::Picoseconds shown = data.curve.time(state.instant);
  const std::int64_t cursor = state.cursor ? g.placeOfTime(data.curve, *state.cursor) : -1;
  if (state.cursor && *state.cursor != shown && inside(g.axis.view, cursor)) {
    painter.setPen(QPen(palette_->mutedText, 1, Qt::DashLine));
    painter.drawLine(xOf(cursor), g.plot.top(), xOf(cursor), g.plot.bottom());
  }
  const std::int64_t place = g.placeOf(data.curve, state.instant);
  if (!inside(g.axis.view, place)) return;
  painter.setPen(QPen(palette_->accent, 2));
  painter.drawLine(xOf(place), g.plot.top(), xOf(place), g.plot.bottom());
  if (state.instant == data.curve.peak()) return;  // the peak's own label stands there
  const QFontMetrics metrics(painter.font());
  drawTag(painter, g.plot, {xOf(place) + 4.0, g.plot.top() + metrics.height() + 4.0},
          QString("%1 at %2").arg(bytesText(data.curve.allocated(state.instant)), timeText(shown)),
          palette_->accent);
}

}  // namespace vsim::gui
