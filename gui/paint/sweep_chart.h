#pragma once

#include "gui/model/sweep.h"
#include "gui/paint/chart.h"

namespace vsim::gui {

/// The points that have both values, as a chart or heat map; ids index data.points. Points that do not fit
/// are crosses; `left out`: points without one of the values.
struct SweepPicture {
  bool heat = false;
  Chart chart;
  HeatMap map;
  std::size_t leftOut = 0, misfits = 0;
};
[[nodiscard]] SweepPicture sweepPicture(const SweepData& data, const SweepChoice& choice);

/// "10,240", "vescale", "32.6".
[[nodiscard]] QString sweepValueText(const SweepData& data, std::size_t column, double value);

}  // namespace vsim::gui
