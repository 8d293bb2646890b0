#include "gui/view/compare/strips_widget.h"

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/paint/timeline_legend.h"

namespace vsim::gui {

StripsWidget::StripsWidget(QWidget* parent) : QWidget(parent), colours_(&paletteOf(Theme::light)) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName("lanes of both steps");
  setMinimumHeight(120);
  setToolTip(
      "Ctrl+wheel zooms both (Shift: one), dragging moves, double click shows the part in the timeline");
}

void StripsWidget::setStrips(std::shared_ptr<const Strip> a, std::shared_ptr<const Strip> b) {
  strips_ = {std::move(a), std::move(b)};
  fit();
}

void StripsWidget::setColours(const Palette& colours) {
  colours_ = &colours;
  update();
}

void StripsWidget::fit() {
  for (std::size_t i = 0; i < 2; ++i) ranges_[i] = strips_[i] ? strips_[i]->step : TimeRange{};
  update();
}

core::Picoseconds StripsWidget::scale() const {
  return std::max({ranges_[0].length(), ranges_[1].length(), core::Picoseconds{1}});
}

void StripsWidget::draw(Sheet& sheet, const QRectF& area) const {
  const double half = area.height() / 2;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!strips_[i]) continue;
    const QRectF part(area.left(), area.top() + half * static_cast<double>(i), area.width(), half - 4);
    const QString title = (i == 0 ? "A  " : "B  ") + strips_[i]->title;
    paintStrip(sheet, *strips_[i], title, ranges_[i], scale(), part);
    const double used = sheet.textWidth(title, Sheet::Style::bold) + 30;
    if (i > 0) continue;  // one legend for both
    drawTimelineLegend(
        sheet.painter(),
        QRectF(part.left() + used, part.top(), part.width() - used, sheet.lineHeight()).toRect(),
        strips_[i]->classes, *colours_, LegendOf::classes);
  }
}

void StripsWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), colours_->background);
  painter.setFont(font());
  Sheet sheet(painter, *colours_, nullptr);
  draw(sheet, QRectF(rect()).adjusted(16, 4, -16, -4));
  if (hasFocus()) {
    painter.setPen(QPen(colours_->accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void StripsWidget::zoomOne(std::size_t strip, double share, double factor) {
  if (!strips_[strip] || ranges_[strip].empty()) return;
  const TimeRange whole = strips_[strip]->step;
  TimeRange& range = ranges_[strip];
  const auto length =
      std::clamp<core::Picoseconds>(std::llround(static_cast<double>(range.length()) * factor),
                                    std::min<core::Picoseconds>(1000, whole.length()), whole.length());
  const double at = static_cast<double>(range.begin) + share * static_cast<double>(range.length());
  range.begin = std::clamp<core::Picoseconds>(std::llround(at - share * static_cast<double>(length)),
                                              whole.begin, whole.end - length);
  range.end = range.begin + length;
}

void StripsWidget::panOne(std::size_t strip, double share) {
  if (!strips_[strip]) return;
  const TimeRange whole = strips_[strip]->step;
  TimeRange& range = ranges_[strip];
  const core::Picoseconds length = range.length();
  range.begin = std::clamp<core::Picoseconds>(range.begin + std::llround(share * static_cast<double>(length)),
                                              whole.begin, whole.end - length);
  range.end = range.begin + length;
}

void StripsWidget::zoom(double factor) {
  for (std::size_t i = 0; i < 2; ++i) zoomOne(i, 0.5, factor);
  update();
}

void StripsWidget::pan(double share) {
  for (std::size_t i = 0; i < 2; ++i) panOne(i, share);
  update();
}

void StripsWidget::wheelEvent(QWheelEvent* event) {
  const double left = 16 + kStripLabels, width = std::max(1.0, this->width() - 16 - left);
  const double share = std::clamp((event->position().x() - left) / width, 0.0, 1.0);
  const double turns =
      (event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x()) / 120.0;
  const bool alone = event->modifiers().testFlag(Qt::ShiftModifier);
  for (std::size_t i = 0; i < 2; ++i) {
    if (alone && i != stripAt(event->position().y())) continue;
    if (event->modifiers().testFlag(Qt::ControlModifier))
      zoomOne(i, share, std::pow(0.8, turns));
    else
      panOne(i, -turns * 0.1);
  }
  update();
  event->accept();
}

void StripsWidget::mousePressEvent(QMouseEvent* event) { pressedX_ = event->position().x(); }

void StripsWidget::mouseMoveEvent(QMouseEvent* event) {
  if (!event->buttons().testFlag(Qt::LeftButton)) return;
  const double width = std::max(1.0, this->width() - 32 - kStripLabels);
  const double share = (pressedX_ - event->position().x()) / width;
  pressedX_ = event->position().x();
  for (std::size_t i = 0; i < 2; ++i)
    if (!event->modifiers().testFlag(Qt::ShiftModifier) || i == stripAt(event->position().y()))
      panOne(i, share);
  update();
}

void StripsWidget::mouseDoubleClickEvent(QMouseEvent* event) {
  const std::size_t strip = stripAt(event->position().y());
  if (!ranges_[strip].empty()) emit opened(static_cast<int>(strip), ranges_[strip]);
}

void StripsWidget::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_W:
      return zoom(0.7);
    case Qt::Key_S:
      return zoom(1 / 0.7);
    case Qt::Key_A:
    case Qt::Key_Left:
      return pan(-0.2);
    case Qt::Key_D:
    case Qt::Key_Right:
      return pan(0.2);
    case Qt::Key_F:
      return fit();
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace vsim::gui
