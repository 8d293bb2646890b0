#pragma once

#include <QPainter>
#include <QString>
#include <cstddef>
#include <vector>

#include "gui/model/ticks.h"
#include "gui/paint/sheet.h"

namespace vsim::gui {

/// A point of a series; `id` comes back as HotSpot::id.
struct ChartPoint {
  double x = 0, y = 0;
  double error = 0;      // half of the error bar, in the unit of y
  bool crossed = false;  // drawn as a cross: does not fit
  std::size_t id = 0;
  QString tip;
};

/// Points of one colour and one shape; `joined` by a line in their order.
struct ChartSeries {
  QString name;
  std::vector<ChartPoint> points;
  bool joined = true;
  bool emphasised = false;  // thick, in the text's colour: a Pareto front; its points are not drawn
};

/// What an axis says and where its marks are. Names of words take the place of numbers: 0, 1, 2.
struct ChartAxis {
  QString title;
  AxisScale scale = AxisScale::linear;
  std::vector<QString> words{};
  bool fromZero = false;  // linear axes begin at 0
};

/// A line or scatter plot with its axes and legend.
struct Chart {
  QString title;
  ChartAxis x, y;
  std::vector<ChartSeries> series;
};

/// A cell of a heat map.
struct HeatCell {
  std::size_t column = 0, row = 0;
  double value = 0;
  bool crossed = false;
  std::size_t id = 0;
  QString tip;
};

struct HeatMap {
  QString title, xTitle, yTitle, valueTitle;
  std::vector<QString> columns, rows;
  std::vector<HeatCell> cells;
};

/// Both draw into `area`, from its background on, and report their points as spots.
void paintChart(Sheet& sheet, const Chart& chart, const QRectF& area);
void paintHeatMap(Sheet& sheet, const HeatMap& map, const QRectF& area);

/// Colour of a share from 0 to 1: one hue, from faint to strong, readable in both themes.
[[nodiscard]] QColor heatColour(const Palette& palette, double share);

}  // namespace vsim::gui
