#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "gui/model/compare.h"
#include "gui/model/lane_index.h"
#include "gui/paint/sheet.h"

namespace vsim::gui {

/// The lanes of one side: those of its slowest ranks, and the part of time to show.
struct Strip {
  QString title;
  bool loading = false;                      // its log is being read
  std::shared_ptr<const TimelineData> data;  // keeps the lanes; null: no log
  struct Lane {
    QString name;
    std::size_t lane = 0;  // in data
    LaneIndex index;
  };
  std::vector<Lane> lanes;
  std::vector<SliceClass> classes;  // that occur
  TimeRange step;                   // its last one, or the measured one that is typical
};

/// Lanes of the side's slowest ranks; the strip is empty when the side has no log. For background threads.
[[nodiscard]] std::shared_ptr<const Strip> stripOf(const ComparedSide& side);

/// Bars from the step time of A to that of B: up (slower) to the right of what stood before, with sign and
/// arrow.
void paintWaterfall(Sheet& sheet, const Waterfall& waterfall, const QString& a, const QString& b,
                    const QRectF& area);

/// One stacked bar per side: memory at the peak by category, against each capacity.
void paintMemoryBars(Sheet& sheet, const Comparison& comparison, const QRectF& area);

/// One strip: title, lanes, ruler. `range`: the part shown; `scale`: its length that the width stands for, so
/// that strips of one scale compare by length.
void paintStrip(Sheet& sheet, const Strip& strip, const QString& title, TimeRange range,
                core::Picoseconds scale, const QRectF& area);
/// Where the lanes of a strip begin, from the left of its area.
inline constexpr double kStripLabels = 118;

}  // namespace vsim::gui
