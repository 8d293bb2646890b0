#include "gui/paint/timeline_legend.h"

#include "gui/paint/timeline_lanes.h"
#include "gui/paint/timeline_overlay.h"

namespace vsim::gui {

std::vector<SliceClass> classesIn(const TimelineScene& scene) {
  std::array<core::Picoseconds, kSliceClasses> busy{};
  for (const LaneIndex& lane : scene.lanes()) {
    const BusyTimes times = lane.busyIn(lane.span());
    for (std::size_t c = 0; c < kBusyClasses; ++c)
      busy[static_cast<std::size_t>(lane.classAt(c))] += times[c];
  }
  std::vector<SliceClass> classes;
  for (std::size_t c = 0; c < kSliceClasses; ++c)
    if (busy[c] > 0) classes.push_back(static_cast<SliceClass>(c));
  return classes;
}

void drawTimelineLegend(QPainter& painter, const QRect& room, const std::vector<SliceClass>& classes,
                        const Palette& palette, LegendOf what) {
  constexpr int kSwatch = 11;
  int left = room.left() + 8;
  const int middle = room.center().y();
  const auto entry = [&](const QString& name, auto drawSwatch) {
    const int width = kSwatch + 6 + painter.fontMetrics().horizontalAdvance(name) + 16;
    if (left + width > room.right()) return;
    drawSwatch(QRect(left, middle - kSwatch / 2, kSwatch, kSwatch));
    painter.setPen(palette.text);
    painter.drawText(QRect(left + kSwatch + 6, room.top(), width, room.height()),
                     Qt::AlignVCenter | Qt::AlignLeft, name);
    left += width;
  };
  if (what != LegendOf::classes)
    entry("exposed communication",
          [&](const QRect& swatch) { painter.fillRect(swatch, QBrush(palette.exposed, Qt::BDiagPattern)); });
  if (what == LegendOf::predicted)
    entry("predicted", [&](const QRect& swatch) {
      painter.setPen(palette.text);
      painter.drawRect(swatch.adjusted(0, 2, -1, -3));
    });
  for (const SliceClass kind : classes)
    entry(QString::fromUtf8(kSliceClassNames[static_cast<std::size_t>(kind)].data()),
          [&](const QRect& swatch) { painter.fillRect(swatch, palette.slice(kind)); });
}

void drawTimeline(QPainter& painter, QSize size, const TimelineFrame& frame) {
  const Palette& palette = paletteOf(frame.theme);
  TimelineLanes lanes(frame.theme);
  painter.fillRect(QRect(QPoint(), size), palette.background);
  const int top = frame.margins.ruler + frame.margins.heat;
  TimelineFrame shown = frame;
  shown.axis.width = std::max(1, size.width() - frame.margins.tree);
  QImage rows(shown.axis.width, std::max(1, size.height() - top), QImage::Format_RGB32);
  lanes.draw(shown, rows, 1);
  painter.drawImage(frame.margins.tree, top, rows);
  if (frame.margins.heat > 0) {
    QImage heat(shown.axis.width, frame.margins.heat, QImage::Format_RGB32);
    lanes.drawHeat(shown, heat);
    painter.drawImage(frame.margins.tree, frame.margins.ruler, heat);
  }
  TimelineOverlay(shown, size, 1).draw(painter);
}

}  // namespace vsim::gui
