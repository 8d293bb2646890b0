#include "gui/paint/sweep_chart.h"

#include <algorithm>
#include <map>

namespace vsim::gui {
namespace {

QString q(const std::string& text) { return QString::fromStdString(text); }

ChartAxis axisOf(const SweepColumn& column, bool logarithmic) {
  ChartAxis axis{.title = q(column.name), .scale = logarithmic ? AxisScale::logarithmic : AxisScale::linear};
  for (const std::string& name : column.names) axis.words.push_back(q(name));
  axis.fromZero = column.result;
  return axis;
}

QString tipOf(const SweepData& data, const SweepPoint& point, std::initializer_list<std::size_t> columns) {
  QString tip = q(point.title);
  for (const std::size_t column : columns)
    if (point.values[column])
      tip += "\n" + q(data.columns[column].name) + ": " + sweepValueText(data, column, *point.values[column]);
  if (!point.fits) tip += "\ndoes not fit in memory";
  return tip;
}

/// Half an error bar: the error is the step time's, and rates follow it.
double errorOf(const SweepColumn& column, const SweepPoint& point, double value) {
  const bool carries = column.name == kStepColumn || column.name == "tokens/s" ||
                       column.name == "tokens/s per GPU" || column.name == "MFU (%)" ||
                       column.name == "HFU (%)";
  return carries ? point.relativeError * value : 0;
}

Chart chartOf(const SweepData& data, const SweepChoice& choice, SweepPicture& picture) {
  Chart chart;
  const SweepColumn &x = data.columns[choice.x], &y = data.columns[choice.y];
  chart.x = axisOf(x, choice.logX);
  chart.y = axisOf(y, choice.logY);
  const bool pareto = choice.kind == SweepChoice::Kind::pareto;
  std::map<double, std::size_t> series;  // by value of the series' column, rising
  if (choice.series)
    for (const SweepPoint& point : data.points)
      if (point.values[*choice.series]) series.emplace(*point.values[*choice.series], 0);
  for (auto& [value, index] : series) {
    index = chart.series.size();
    const SweepColumn& column = data.columns[*choice.series];
    const QString label = sweepValueText(data, *choice.series, value);
    chart.series.push_back({.name = column.numeric ? q(column.name) + " " + label : label, .points = {}});
  }
  if (chart.series.empty()) chart.series.push_back({.name = q(y.name), .points = {}});
  for (std::size_t i = 0; i < data.points.size(); ++i) {
    const SweepPoint& point = data.points[i];
    if (!point.values[choice.x] || !point.values[choice.y] ||
        (choice.series && !point.values[*choice.series])) {
      ++picture.leftOut;
      continue;
    }
    if (!point.fits) ++picture.misfits;
    const std::size_t index = choice.series ? series[*point.values[*choice.series]] : 0;
    chart.series[index].points.push_back({.x = *point.values[choice.x],
                                          .y = *point.values[choice.y],
                                          .error = errorOf(y, point, *point.values[choice.y]),
                                          .crossed = !point.fits,
                                          .id = i,
                                          .tip = tipOf(data, point, {choice.x, choice.y})});
  }
  for (ChartSeries& line : chart.series) {
    line.joined = choice.kind == SweepChoice::Kind::line && x.numeric;
    std::stable_sort(line.points.begin(), line.points.end(),
                     [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
  }
  if (pareto) {
    ChartSeries front{.name = "Pareto front", .points = {}, .joined = true, .emphasised = true};
    for (const std::size_t i : paretoFront(data, choice.x, choice.y))
      front.points.push_back(
          {.x = *data.points[i].values[choice.x], .y = *data.points[i].values[choice.y], .id = i, .tip = {}});
    chart.series.push_back(std::move(front));
  }
  return chart;
}

/// Values of a column that occur, rising, and where each stands.
std::map<double, std::size_t> stepsOf(const SweepData& data, std::size_t column) {
  std::map<double, std::size_t> steps;
  for (const SweepPoint& point : data.points)
    if (point.values[column]) steps.emplace(*point.values[column], 0);
  std::size_t next = 0;
  for (auto& [value, index] : steps) index = next++;
  return steps;
}

HeatMap mapOf(const SweepData& data, const SweepChoice& choice, SweepPicture& picture) {
  HeatMap map;
  const std::size_t colour = choice.series.value_or(data.column(kStepColumn).value_or(0));
  map.xTitle = q(data.columns[choice.x].name);
  map.yTitle = q(data.columns[choice.y].name);
  map.valueTitle = map.title = q(data.columns[colour].name);
  std::map<double, std::size_t> columns = stepsOf(data, choice.x), rows = stepsOf(data, choice.y);
  for (const auto& [value, index] : columns) map.columns.push_back(sweepValueText(data, choice.x, value));
  for (const auto& [value, index] : rows) map.rows.push_back(sweepValueText(data, choice.y, value));
  for (std::size_t i = 0; i < data.points.size(); ++i) {
    const SweepPoint& point = data.points[i];
    if (!point.values[choice.x] || !point.values[choice.y] || !point.values[colour]) {
      ++picture.leftOut;
      continue;
    }
    if (!point.fits) ++picture.misfits;
    map.cells.push_back({.column = columns[*point.values[choice.x]],
                         .row = rows[*point.values[choice.y]],
                         .value = *point.values[colour],
                         .crossed = !point.fits,
                         .id = i,
                         .tip = tipOf(data, point, {choice.x, choice.y, colour})});
  }
  return map;
}

}  // namespace

QString sweepValueText(const SweepData& data, std::size_t column, double value) {
  const SweepColumn& of = data.columns[column];
  const auto index = static_cast<std::size_t>(value);
  if (!of.names.empty()) return index < of.names.size() ? q(of.names[index]) : QString();
  if (value == static_cast<double>(static_cast<long long>(value))) return q(tickLabel(value));
  return QString::number(value, 'g', 5);
}

SweepPicture sweepPicture(const SweepData& data, const SweepChoice& choice) {
  SweepPicture picture;
  picture.heat = choice.kind == SweepChoice::Kind::heatMap;
  const std::size_t columns = data.columns.size();
  if (choice.x >= columns || choice.y >= columns || (choice.series && *choice.series >= columns))
    return picture;
  if (picture.heat)
    picture.map = mapOf(data, choice, picture);
  else
    picture.chart = chartOf(data, choice, picture);
  return picture;
}

}  // namespace vsim::gui
