#include "gui/paint/group_size_plot.h"

#include <fmt/format.h>

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "core/base/units.h"
#include "gui/model/ticks.h"

namespace vsim::gui {
namespace {

constexpr double kLeast = 0.01;  // per cent; less is drawn on the axis

struct Frame {
  QRectF plot;
  Ticks ticks;
  [[nodiscard]] double x(const GroupSizeStudy& study, std::size_t size) const {
    const double steps = static_cast<double>(std::max<std::size_t>(2, study.sizes.size()) - 1);
    return plot.left() + 14 + static_cast<double>(size) / steps * (plot.width() - 28);
  }
  [[nodiscard]] double y(double padding) const {
    return plot.bottom() - ticks.place(std::max(kLeast, 100 * padding)) * plot.height();
  }
};

QRectF plotArea(const QRectF& area) { return area.adjusted(64, 26, -150, -38); }

Frame frameOf(const GroupSizeStudy& study, const QRectF& area) {
  double most = 1;
  for (const auto& values : study.values)
    for (const GroupSizeValue& value : values) most = std::max(most, 100 * value.padding);
  return {plotArea(area), niceTicks(kLeast, most, 6, AxisScale::logarithmic)};
}

void drawAxes(QPainter& painter, const Palette& palette, const GroupSizePlot& plot, const Frame& frame) {
  const QFontMetricsF metrics(painter.font());
  for (const Tick& tick : frame.ticks.marks) {
    const double y = frame.plot.bottom() - frame.ticks.place(tick.value) * frame.plot.height();
    painter.setPen(palette.grid);
    painter.drawLine(QPointF(frame.plot.left(), y), QPointF(frame.plot.right(), y));
    painter.setPen(palette.mutedText);
    const QString label = (tick.value <= kLeast ? QString(QChar(0x2264)) + " " : QString()) +
                          QString::fromStdString(tick.label) + " %";
    painter.drawText(QRectF(frame.plot.left() - 62, y - 9, 56, 18), Qt::AlignVCenter | Qt::AlignRight, label);
  }
  double free = -1e9;
  for (std::size_t i = 0; i < plot.study->sizes.size(); ++i) {
    const std::int64_t size = plot.study->sizes[i];
    const double x = frame.x(*plot.study, i);
    if (size == plot.chosen || size == plot.hovered) {
      QColor band = palette.accent;
      band.setAlphaF(size == plot.chosen ? 0.22F : 0.10F);
      painter.fillRect(QRectF(x - 13, frame.plot.top(), 26, frame.plot.height() + 22), band);
    }
    const QString label = QString::fromStdString(core::formatCount(size));
    const double half = metrics.horizontalAdvance(label) / 2;
    if (x - half < free) continue;
    free = x + half + 6;
    painter.setPen(size == plot.chosen ? palette.text : palette.mutedText);
    painter.drawText(QRectF(x - 30, frame.plot.bottom() + 6, 60, 16), Qt::AlignCenter, label);
  }
  painter.setPen(palette.mutedText);
  painter.drawText(QRectF(frame.plot.left() - 60, frame.plot.bottom() + 22, frame.plot.width() + 200, 16),
                   Qt::AlignLeft | Qt::AlignVCenter, "GPUs in the FSDP group; click one to show its maps");
}

/// Names at the right ends of the lines, pushed apart where they would overlap.
void drawNames(QPainter& painter, const Palette& palette, const GroupSizePlot& plot, const Frame& frame) {
  struct Name {
    std::size_t series;
    double y;
  };
  std::vector<Name> names;
  for (std::size_t s = 0; s < plot.study->systems.size(); ++s) {
    const auto& values = plot.study->values[s];
    const auto last = std::find_if(values.rbegin(), values.rend(), [](const auto& v) { return !v.refused; });
    names.push_back({s, last == values.rend() ? frame.plot.top() : frame.y(last->padding)});
  }
  std::ranges::stable_sort(names, std::ranges::less{}, &Name::y);
  const QFontMetricsF metrics(painter.font());
  const double height = metrics.height();
  for (std::size_t i = 1; i < names.size(); ++i) names[i].y = std::max(names[i].y, names[i - 1].y + height);
  double limit = frame.plot.bottom() + 4;
  for (std::size_t i = names.size(); i-- > 0;) {
    names[i].y = std::min(names[i].y, limit);
    limit = names[i].y - height;
  }
  for (const Name& name : names) {
    painter.setBrush(palette.series(name.series));
    painter.setPen(palette.series(name.series));
    drawSeriesMark(painter, {frame.plot.right() + 10, name.y}, 4, name.series);
    painter.setPen(palette.text);
    painter.drawText(
        QRectF(frame.plot.right() + 20, name.y - height / 2, 128, height), Qt::AlignVCenter | Qt::AlignLeft,
        metrics.elidedText(QString::fromStdString(plot.study->systems[name.series]), Qt::ElideRight, 126));
  }
}

}  // namespace

void drawSeriesMark(QPainter& painter, const QPointF& at, double radius, std::size_t series) {
  const double r = radius;
  QPainterPath path;
  switch (series % 5) {
    case 0:
      path.addEllipse(at, r, r);
      break;
    case 1:
      path.addRect(QRectF(at.x() - r, at.y() - r, 2 * r, 2 * r));
      break;
    case 2:
      path.addPolygon(QPolygonF({at + QPointF(0, -r - 1), at + QPointF(r + 1, r), at + QPointF(-r - 1, r),
                                 at + QPointF(0, -r - 1)}));
      break;
    case 3:
      path.addPolygon(QPolygonF({at + QPointF(0, -r - 2), at + QPointF(r + 2, 0), at + QPointF(0, r + 2),
                                 at + QPointF(-r - 2, 0), at + QPointF(0, -r - 2)}));
      break;
    default:
      path.addPolygon(QPolygonF({at + QPointF(0, r + 1), at + QPointF(r + 1, -r), at + QPointF(-r - 1, -r),
                                 at + QPointF(0, r + 1)}));
  }
  painter.drawPath(path);
}

void drawGroupSizes(QPainter& painter, const Palette& palette, const GroupSizePlot& plot,
                    const QRectF& area) {
  painter.save();
  painter.fillRect(area, palette.background);
  painter.setRenderHint(QPainter::Antialiasing, true);
  QFont bold = painter.font();
  bold.setBold(true);
  const QFont normal = painter.font();
  painter.setFont(bold);
  painter.setPen(palette.text);
  painter.drawText(area.adjusted(8, 2, -8, 0), Qt::AlignTop | Qt::AlignLeft,
                   "Padding of all buckets by group size");
  painter.setFont(normal);
  if (!plot.study || plot.study->sizes.empty()) {
    painter.setPen(palette.mutedText);
    painter.drawText(
        area.adjusted(16, 30, -16, 0), Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap,
        plot.study && !plot.study->notes.empty()
            ? "No group size can be planned: " + QString::fromStdString(plot.study->notes.front())
            : QString("Group sizes are being planned..."));
    painter.restore();
    return;
  }
  const Frame frame = frameOf(*plot.study, area);
  drawAxes(painter, palette, plot, frame);
  for (std::size_t s = 0; s < plot.study->systems.size(); ++s) {
    QPolygonF line;
    for (std::size_t i = 0; i < plot.study->sizes.size(); ++i) {
      const GroupSizeValue& value = plot.study->values[s][i];
      if (value.refused) continue;
      line << QPointF(frame.x(*plot.study, i), frame.y(value.padding));
    }
    painter.setPen(QPen(palette.series(s), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(line);
    painter.setBrush(palette.series(s));
    for (const QPointF& at : line) drawSeriesMark(painter, at, 3.5, s);
  }
  drawNames(painter, palette, plot, frame);
  painter.restore();
}

std::optional<std::int64_t> groupSizeAt(const GroupSizeStudy& study, const QRectF& area,
                                        const QPointF& position) {
  const Frame frame{plotArea(area), {}};
  if (study.sizes.empty() || !frame.plot.adjusted(-16, 0, 16, 24).contains(position)) return std::nullopt;
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < study.sizes.size(); ++i)
    if (std::abs(frame.x(study, i) - position.x()) < std::abs(frame.x(study, nearest) - position.x()))
      nearest = i;
  return study.sizes[nearest];
}

}  // namespace vsim::gui
