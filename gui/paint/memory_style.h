#pragma once

#include <QBrush>
#include <QColor>
#include <QPainter>
#include <QString>
#include <vector>

#include "gui/model/memory_curve.h"
#include "gui/paint/palette.h"

namespace vsim::gui {

/// Colour of a category, or of what was there before the log.
[[nodiscard]] QColor memoryPartColor(const Palette& palette, std::size_t part);
[[nodiscard]] QColor mixed(const QColor& a, const QColor& b, double share);
/// Slanted lines on the background: memory that is reserved and holds nothing.
[[nodiscard]] QBrush freeHatch(const Palette& palette);

/// "12.34 GiB".
[[nodiscard]] QString bytesText(core::Bytes bytes);
[[nodiscard]] QString timeText(core::Picoseconds time);

struct AxisTick {
  std::int64_t value = 0;
  QString label;
};
/// Steps of 1, 2 or 5 times a power of ten, at most `most` of them, in one unit of time.
[[nodiscard]] std::vector<AxisTick> timeTicks(TimeRange view, int most);
/// Numbers of events, for an axis in thousandths of them (MemoryCurve::kEventUnit).
[[nodiscard]] std::vector<AxisTick> eventTicks(TimeRange view, int most);
/// Powers of two from 0 to `top`, at most `most` of them, in one unit.
[[nodiscard]] std::vector<AxisTick> byteTicks(core::Bytes top, int most);

/// One entry of a legend; `hatched` entries show the hatch.
struct MemoryLegendEntry {
  QColor colour;
  QString text;
  enum class Look : std::uint8_t { fill, line, dashed, hatched } look = Look::fill;
};
/// Entries side by side from the left, wrapped; answers the height that they took.
int drawMemoryLegend(QPainter& painter, const Palette& palette, const QRect& area,
                     const std::vector<MemoryLegendEntry>& entries);

}  // namespace vsim::gui
