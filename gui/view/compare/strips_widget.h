#pragma once

#include <QWidget>
#include <array>
#include <memory>

#include "gui/paint/compare_page.h"

namespace vsim::gui {

/// Lanes of two steps, one above the other, each with its own part of time. Wheel with Ctrl zooms at the
/// cursor, dragging moves; both strips follow each other unless Shift is held. Both begin at the same scale.
class StripsWidget : public QWidget {
  Q_OBJECT
 public:
  explicit StripsWidget(QWidget* parent);

  void setStrips(std::shared_ptr<const Strip> a, std::shared_ptr<const Strip> b);
  void setColours(const Palette& colours);
  void fit();
  void zoom(double factor);  // in the middle of both
  void pan(double share);    // of what is shown

  /// Draws both into `area`.
  void draw(Sheet& sheet, const QRectF& area) const;
  [[nodiscard]] TimeRange range(std::size_t strip) const { return ranges_[strip]; }
  [[nodiscard]] QSize sizeHint() const override { return {800, 190}; }

 signals:
  void opened(int strip, vsim::gui::TimeRange range);  // double click

 protected:
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] core::Picoseconds scale() const;
  [[nodiscard]] std::size_t stripAt(double y) const { return y < height() / 2.0 ? 0 : 1; }
  void zoomOne(std::size_t strip, double share, double factor);
  void panOne(std::size_t strip, double share);

  std::array<std::shared_ptr<const Strip>, 2> strips_;
  std::array<TimeRange, 2> ranges_;
  const Palette* colours_;
  double pressedX_ = 0;
};

}  // namespace vsim::gui
