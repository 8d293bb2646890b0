#pragma once

#include <QPainter>
#include <optional>
#include <vector>

#include "gui/model/plan_set.h"
#include "gui/paint/palette.h"

namespace vsim::gui {

/// Padding over the size of the FSDP group, one line a system.
struct GroupSizePlot {
  const GroupSizeStudy* study = nullptr;  // not owned
  std::int64_t chosen = 0;                // size that the maps show
  std::int64_t hovered = 0;               // 0: none
};
void drawGroupSizes(QPainter& painter, const Palette& palette, const GroupSizePlot& plot, const QRectF& area);
/// The size whose column is nearest; none: outside of the plot.
[[nodiscard]] std::optional<std::int64_t> groupSizeAt(const GroupSizeStudy& study, const QRectF& area,
                                                      const QPointF& position);

/// Marks that tell series apart without colours.
void drawSeriesMark(QPainter& painter, const QPointF& at, double radius, std::size_t series);

}  // namespace vsim::gui
