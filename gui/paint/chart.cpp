#include "gui/paint/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace vsim::gui {
namespace {

constexpr double kMarker = 4.5, kTickRoom = 62;
using Style = Sheet::Style;

/// Smallest and largest value of an axis over all series.
struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

Ticks ticksOf(const ChartAxis& axis, Extent extent, double pixels) {
  if (!axis.words.empty()) {
    Ticks ticks;
    ticks.low = -0.5;
    ticks.high = static_cast<double>(axis.words.size()) - 0.5;
    for (std::size_t i = 0; i < axis.words.size(); ++i)
      ticks.marks.push_back({static_cast<double>(i), axis.words[i].toStdString()});
    return ticks;
  }
  if (!std::isfinite(extent.low)) extent = {0, 1};
  if (axis.fromZero && axis.scale == AxisScale::linear) extent.low = std::min(0.0, extent.low);
  return niceTicks(extent.low, extent.high, std::max(3, static_cast<int>(pixels / kTickRoom)), axis.scale);
}

/// Ends the axis a little beyond the data: what lies further out only wastes room.
void trim(Ticks& ticks, Extent extent, bool fromZero) {
  constexpr double kMargin = 0.04;
  if (!(extent.high > extent.low)) return;
  const bool logarithmic = ticks.scale == AxisScale::logarithmic;
  const double margin =
      logarithmic ? std::pow(extent.high / extent.low, kMargin) : kMargin * (extent.high - extent.low);
  Ticks trimmed = ticks;
  if (!fromZero || logarithmic)
    trimmed.low = std::max(ticks.low, logarithmic ? extent.low / margin : extent.low - margin);
  trimmed.high = std::min(ticks.high, logarithmic ? extent.high * margin : extent.high + margin);
  std::erase_if(trimmed.marks,
                [&](const Tick& tick) { return tick.value < trimmed.low || tick.value > trimmed.high; });
  if (trimmed.marks.size() > 1) ticks = trimmed;
}

/// Marks where the data are, if these are few whole numbers (GPUs, batches) with room between them: 8, 16,
/// 32, 64 say more than 10, 20, 50.
void markData(Ticks& ticks, const Chart& chart, double pixels) {
  constexpr std::size_t kMost = 12;
  constexpr double kLeastRoom = 45;  // pixels
  std::set<double> values;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points)
      if (std::isfinite(point.x)) values.insert(point.x);
  if (values.size() < 2 || values.size() > kMost) return;
  double last = -1;
  std::vector<Tick> marks;
  for (const double value : values) {
    const double place = ticks.place(value);
    if (value != std::floor(value) || place < 0 || place > 1 || (place - last) * pixels < kLeastRoom) return;
    marks.push_back({value, tickLabel(value)});
    last = place;
  }
  ticks.marks = std::move(marks);
}

class Plot {
 public:
  Plot(Sheet& sheet, const Chart& chart, const QRectF& area) : sheet_(sheet), chart_(chart) {
    Extent x, y;
    for (const ChartSeries& series : chart.series)
      for (const ChartPoint& point : series.points) {
        x.add(point.x);
        y.add(point.y - point.error);
        y.add(point.y + point.error);
      }
    const double line = sheet.lineHeight(), small = sheet.lineHeight(Style::small);
    const double legendHeight = chart.series.size() > 1 ? legendRows(area.width()) * (line + 2) + 4 : 0;
    const double top = area.top() + (chart.title.isEmpty() ? 0 : line + 6) + legendHeight + line + 6;
    yTicks_ = ticksOf(chart.y, y, area.height() - 90);
    double labels = 0;
    for (const Tick& tick : yTicks_.marks)
      labels = std::max(labels, sheet.textWidth(QString::fromStdString(tick.label), Style::small));
    labels = std::min(labels, area.width() * 0.3);
    plot_ = QRectF(QPointF(area.left() + labels + 12, top),
                   QPointF(area.right() - 24, area.bottom() - small - line - 14));
    xTicks_ = ticksOf(chart.x, x, plot_.width());
    if (chart.x.words.empty()) {
      trim(xTicks_, x, chart.x.fromZero);
      markData(xTicks_, chart, plot_.width());
    }
    area_ = area;
  }

  void draw() {
    drawAxes();
    drawLegend();
    sheet_.painter().save();
    sheet_.painter().setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = 0; i < chart_.series.size(); ++i) drawLine(chart_.series[i], i);
    for (std::size_t i = 0; i < chart_.series.size(); ++i) drawPoints(chart_.series[i], i);
    sheet_.painter().restore();
  }

 private:
  [[nodiscard]] QPointF place(double x, double y) const {
    return {plot_.left() + xTicks_.place(x) * plot_.width(),
            plot_.bottom() - yTicks_.place(y) * plot_.height()};
  }
  [[nodiscard]] QColor colourOf(const ChartSeries& series, std::size_t index) const {
    return series.emphasised ? sheet_.colours().text : sheet_.colours().series(index);
  }
  [[nodiscard]] double entryWidth() const {
    double width = 0;
    for (const ChartSeries& series : chart_.series)
      width = std::max(width, sheet_.textWidth(series.name) + 44);
    return width;
  }
  [[nodiscard]] int legendColumns(double width) const {
    return std::max(1, static_cast<int>(width / std::max(60.0, entryWidth())));
  }
  [[nodiscard]] double legendRows(double width) const {
    return std::ceil(static_cast<double>(chart_.series.size()) / legendColumns(width));
  }

  void drawAxes() {
    QPainter& painter = sheet_.painter();
    const Palette& c = sheet_.colours();
    const double small = sheet_.lineHeight(Style::small), line = sheet_.lineHeight();
    double y = area_.top();
    if (!chart_.title.isEmpty()) {
      sheet_.text(QRectF(area_.left(), y, area_.width(), line), chart_.title, c.text, Style::bold);
      y += line + 6;
    }
    sheet_.text(QRectF(area_.left(), plot_.top() - line - 6, area_.width(), line), chart_.y.title,
                c.mutedText);
    for (const Tick& tick : yTicks_.marks) {
      const double at = std::round(place(0, tick.value).y());
      painter.fillRect(QRectF(plot_.left(), at, plot_.width(), 1), c.grid);
      sheet_.text(QRectF(area_.left(), at - small / 2, plot_.left() - area_.left() - 6, small),
                  QString::fromStdString(tick.label), c.text, Style::small,
                  Qt::AlignRight | Qt::AlignVCenter);
    }
    double free = -1e9;  // labels that would touch the one before are left out
    for (const Tick& tick : xTicks_.marks) {
      const double at = std::round(plot_.left() + xTicks_.place(tick.value) * plot_.width());
      painter.fillRect(QRectF(at, plot_.top(), 1, plot_.height() + 4), c.grid);
      const QString label = QString::fromStdString(tick.label);
      const double width =
          chart_.x.words.empty()
              ? sheet_.textWidth(label, Style::small) + 2
              : std::min(sheet_.textWidth(label, Style::small) + 2,
                         std::max(plot_.width() / static_cast<double>(xTicks_.marks.size()) - 6, 30.0));
      if (at - width / 2 < free) continue;
      free = at + width / 2 + 8;
      sheet_.text(QRectF(at - width / 2, plot_.bottom() + 6, width, small), label, c.text, Style::small,
                  Qt::AlignCenter);
    }
    painter.fillRect(QRectF(plot_.left(), plot_.bottom(), plot_.width() + 1, 1), c.mutedText);
    painter.fillRect(QRectF(plot_.left(), plot_.top(), 1, plot_.height()), c.mutedText);
    sheet_.text(QRectF(plot_.left(), area_.bottom() - line - 2, plot_.width(), line), chart_.x.title,
                c.mutedText, Style::normal, Qt::AlignCenter);
  }

  void drawLegend() {
    if (chart_.series.size() < 2) return;
    const double line = sheet_.lineHeight() + 2;
    const double top = area_.top() + (chart_.title.isEmpty() ? 0 : line + 4);
    const int columns = legendColumns(area_.width());
    const double width = std::max(60.0, entryWidth());
    QPainter& painter = sheet_.painter();
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const ChartSeries& series = chart_.series[i];
      const QRectF cell(area_.left() + width * static_cast<double>(i % static_cast<std::size_t>(columns)),
                        top + line * static_cast<double>(i / static_cast<std::size_t>(columns)), width, line);
      painter.save();
      painter.setRenderHint(QPainter::Antialiasing);
      painter.setPen(QPen(colourOf(series, i), series.emphasised ? 2.5 : 1.8));
      const QPointF middle(cell.left() + 13, cell.center().y());
      if (series.joined) painter.drawLine(middle - QPointF(11, 0), middle + QPointF(11, 0));
      if (!series.emphasised) marker(middle, i, colourOf(series, i));
      painter.restore();
      sheet_.text(cell.adjusted(30, 0, -8, 0), series.name, sheet_.colours().text);
    }
  }

  /// A shape for each series: colours alone do not tell them apart.
  void marker(QPointF at, std::size_t shape, const QColor& colour) {
    QPainter& painter = sheet_.painter();
    painter.setPen(QPen(sheet_.colours().background, 1));
    painter.setBrush(colour);
    const double r = kMarker;
    switch (shape % 4) {
      case 0:
        painter.drawEllipse(at, r, r);
        break;
      case 1:
        painter.drawRect(QRectF(at.x() - r, at.y() - r, 2 * r, 2 * r));
        break;
      case 2:
        painter.drawPolygon(
            QPolygonF({at + QPointF(0, -r - 1), at + QPointF(r + 1, r), at + QPointF(-r - 1, r)}));
        break;
      default:
        painter.drawPolygon(QPolygonF({at + QPointF(0, -r - 1), at + QPointF(r + 1, 0),
                                       at + QPointF(0, r + 1), at + QPointF(-r - 1, 0)}));
    }
  }

  void drawLine(const ChartSeries& series, std::size_t index) {
    if (!series.joined) return;
    QPainter& painter = sheet_.painter();
    painter.setPen(QPen(colourOf(series, index), series.emphasised ? 2.5 : 1.8));
    painter.setBrush(Qt::NoBrush);
    QPolygonF line;
    for (const ChartPoint& point : series.points) line.push_back(place(point.x, point.y));
    painter.drawPolyline(line);
  }

  void drawPoints(const ChartSeries& series, std::size_t index) {
    if (series.emphasised) return;
    QPainter& painter = sheet_.painter();
    const QColor colour = colourOf(series, index);
    for (const ChartPoint& point : series.points) {
      const QPointF at = place(point.x, point.y);
      if (point.error > 0) {
        const double top = place(point.x, point.y + point.error).y();
        const double low = chart_.y.scale == AxisScale::logarithmic && point.y <= point.error
                               ? plot_.bottom()
                               : place(point.x, point.y - point.error).y();
        painter.setPen(QPen(colour, 1.2));
        painter.drawLine(QPointF(at.x(), top), QPointF(at.x(), low));
        painter.drawLine(QPointF(at.x() - 4, top), QPointF(at.x() + 4, top));
        painter.drawLine(QPointF(at.x() - 4, low), QPointF(at.x() + 4, low));
      }
      if (point.crossed) {
        painter.setPen(QPen(sheet_.colours().exposed, 2.2));
        painter.drawLine(at + QPointF(-5, -5), at + QPointF(5, 5));
        painter.drawLine(at + QPointF(-5, 5), at + QPointF(5, -5));
      } else {
        marker(at, index, colour);
      }
      sheet_.spot(QRectF(at.x() - 6, at.y() - 6, 12, 12), point.id, point.tip);
    }
  }

  Sheet& sheet_;
  const Chart& chart_;
  QRectF area_, plot_;
  Ticks xTicks_, yTicks_;
};

}  // namespace

QColor heatColour(const Palette& palette, double share) {
  const QColor from = palette.panel, to = palette.dark ? QColor(0x56, 0xb4, 0xe9) : QColor(0x00, 0x5a, 0x96);
  const double s = std::clamp(std::isfinite(share) ? share : 0, 0.0, 1.0);
  const auto mix = [s](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * s)); };
  return {mix(from.red(), to.red()), mix(from.green(), to.green()), mix(from.blue(), to.blue())};
}

void paintChart(Sheet& sheet, const Chart& chart, const QRectF& area) { Plot(sheet, chart, area).draw(); }

void paintHeatMap(Sheet& sheet, const HeatMap& map, const QRectF& area) {
  const Palette& c = sheet.colours();
  if (map.columns.empty() || map.rows.empty()) return;
  const double line = sheet.lineHeight(), small = sheet.lineHeight(Style::small);
  double labels = 0;
  for (const QString& row : map.rows) labels = std::max(labels, sheet.textWidth(row, Style::small));
  labels = std::min(labels + 10, area.width() * 0.35);
  sheet.text(QRectF(area.left(), area.top(), area.width(), line), map.title, c.text, Style::bold);
  sheet.text(QRectF(area.left(), area.top() + line + 2, area.width(), line), map.yTitle, c.mutedText);
  const QRectF grid(QPointF(area.left() + labels, area.top() + 2 * line + 8),
                    QPointF(area.right() - 12, area.bottom() - small - 2 * line - 16));
  const double width = grid.width() / static_cast<double>(map.columns.size());
  const double height = grid.height() / static_cast<double>(map.rows.size());
  Extent extent;
  for (const HeatCell& cell : map.cells) extent.add(cell.value);
  for (std::size_t r = 0; r < map.rows.size(); ++r)
    sheet.text(QRectF(area.left(), grid.top() + height * static_cast<double>(r), labels - 6, height),
               map.rows[r], c.text, Style::small, Qt::AlignRight | Qt::AlignVCenter);
  for (std::size_t i = 0; i < map.columns.size(); ++i)
    sheet.text(QRectF(grid.left() + width * static_cast<double>(i), grid.bottom() + 4, width, small),
               map.columns[i], c.text, Style::small, Qt::AlignCenter);
  sheet.text(QRectF(grid.left(), grid.bottom() + 6 + small, grid.width(), line), map.xTitle, c.mutedText,
             Style::normal, Qt::AlignCenter);
  QPainter& painter = sheet.painter();
  for (const HeatCell& cell : map.cells) {
    const QRectF box(grid.left() + width * static_cast<double>(cell.column),
                     grid.top() + height * static_cast<double>(cell.row), width - 2, height - 2);
    const double span = extent.high - extent.low;
    const QColor colour = heatColour(c, span > 0 ? 0.1 + 0.9 * (cell.value - extent.low) / span : 0.5);
    painter.fillRect(box, colour);
    const QColor ink = contrast(colour, c.text) >= contrast(colour, c.background) ? c.text : c.background;
    if (width > 34 && height > small)
      sheet.text(box,
                 QString::fromStdString(tickLabel(
                     cell.value == 0 ? 0 : std::stod(QString::number(cell.value, 'g', 3).toStdString()))),
                 ink, Style::small, Qt::AlignCenter);
    if (cell.crossed) {
      painter.setPen(QPen(c.exposed, 2));
      painter.drawLine(box.topLeft() + QPointF(3, 3), box.bottomRight() - QPointF(3, 3));
      painter.drawLine(box.topRight() + QPointF(-3, 3), box.bottomLeft() + QPointF(3, -3));
    }
    sheet.spot(box, cell.id, cell.tip);
  }
  // The scale: from the smallest to the largest value.
  const QRectF scale(grid.left(), area.bottom() - line, std::min(160.0, grid.width() / 3), line - 4);
  for (int i = 0; i < 32; ++i)
    painter.fillRect(
        QRectF(scale.left() + scale.width() * i / 32, scale.top(), scale.width() / 32 + 0.5, scale.height()),
        heatColour(c, 0.1 + 0.9 * i / 31));
  if (std::isfinite(extent.low))
    sheet.text(
        QRectF(scale.right() + 8, area.bottom() - line - 2, grid.width(), line),
        QString("%1 to %2   %3").arg(extent.low, 0, 'g', 4).arg(extent.high, 0, 'g', 4).arg(map.valueTitle),
        c.text);
}

}  // namespace vsim::gui
