#pragma once

#include <QPainter>
#include <QRect>

#include "gui/paint/palette.h"
#include "gui/paint/timeline_frame.h"

namespace vsim::gui {

/// Which classes of slices occur in the data.
[[nodiscard]] std::vector<SliceClass> classesIn(const TimelineScene& scene);
/// What stands in a legend beside the classes, each with all before it.
enum class LegendOf { classes, exposed, predicted };
/// Swatches with names from left to right, cut at the rectangle's end; what is not a class first.
void drawTimelineLegend(QPainter& painter, const QRect& room, const std::vector<SliceClass>& classes,
                        const Palette& palette, LegendOf what);

/// Draws a whole frame, rows and overlay: for export and screenshots.
void drawTimeline(QPainter& painter, QSize size, const TimelineFrame& frame);

}  // namespace vsim::gui
