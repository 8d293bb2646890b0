#pragma once

#include <QFont>
#include <QPainter>
#include <QRect>
#include <QSize>

#include "gui/paint/palette.h"
#include "gui/paint/timeline_frame.h"

namespace vsim::gui {

/// Draws all of a frame but the dense rows: tree, ruler, names, boundaries, selection, path, arrows, marks.
/// Logical pixels; made for one picture.
class TimelineOverlay {
 public:
  TimelineOverlay(const TimelineFrame& frame, QSize size, double scale);

  /// Everything, on top of the rows.
  void draw(QPainter& painter) {
    drawBase(painter);
    drawLive(painter);
  }
  /// What costs time and stays as it is while the pointer moves: names, hits, path, tree, ruler.
  void drawBase(QPainter& painter);
  /// What follows pointer and keys: selection, hover, area, limit, arrows, marks, cursor.
  void drawLive(QPainter& painter);

  /// Column of a time, and of a slice the rectangle; empty when its row is not laid out.
  [[nodiscard]] double x(core::Picoseconds time) const;
  [[nodiscard]] QRectF sliceRect(SliceRef slice) const;

 private:
  void drawTree(QPainter& painter);
  void drawRuler(QPainter& painter);
  void drawLayers(QPainter& painter);
  void drawSteps(QPainter& painter);
  void drawNames(QPainter& painter);
  void drawNamesOf(QPainter& painter, const TimelineRow& row);
  void drawPredicted(QPainter& painter);
  void drawShaded(QPainter& painter);
  void drawSearch(QPainter& painter);
  void drawPath(QPainter& painter);
  void drawExposedOnly(QPainter& painter);
  void drawArrows(QPainter& painter);
  void drawOutlines(QPainter& painter);
  void drawMarks(QPainter& painter);
  [[nodiscard]] QRectF lanesRect() const;
  [[nodiscard]] int lanesTop() const { return frame_.margins.ruler + frame_.margins.heat; }

  const TimelineFrame& frame_;
  QSize size_;
  double scale_;
  const Palette& palette_;
  std::vector<std::size_t> rowOfLane_;  // row + 1; 0: not laid out
  std::size_t firstRow_ = 0, lastRow_ = 0;
};

}  // namespace vsim::gui
