#include "gui/view/page_canvas.h"

#include <QHelpEvent>
#include <QImage>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollArea>
#include <QToolTip>
#include <cmath>

namespace vsim::gui {

PageCanvas::PageCanvas(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
}

void PageCanvas::setDraw(Draw draw) {
  draw_ = std::move(draw);
  refresh();
}

QSize PageCanvas::sizeHint() const { return {800, fixedHeight_ > 0 ? fixedHeight_ : 400}; }

void PageCanvas::refresh() {
  measure();
  update();
}

void PageCanvas::measure() {
  if (!draw_ || measuring_ || width() <= 0) return;
  measuring_ = true;  // a new height comes back as a resize
  QImage nothing(1, 1, QImage::Format_RGB32);
  QPainter painter(&nothing);
  painter.setFont(font());
  std::vector<HotSpot> spots;
  const int height = static_cast<int>(std::ceil(draw_(painter, QSizeF(size()), &spots)));
  spots_ = std::move(spots);
  const auto count = static_cast<std::ptrdiff_t>(spots_.size());
  if (current_ >= count) current_ = -1;
  if (hovered_ >= count) hovered_ = -1;
  if (height != fixedHeight_) {
    fixedHeight_ = height;
    setMinimumHeight(height);
    updateGeometry();
  }
  measuring_ = false;
}

void PageCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(font());
  if (draw_) draw_(painter, QSizeF(size()), nullptr);
  painter.setBrush(Qt::NoBrush);
  const auto frame = [&](std::ptrdiff_t spot, double width) {
    if (spot < 0 || spot >= static_cast<std::ptrdiff_t>(spots_.size())) return;
    painter.setPen(QPen(palette().color(QPalette::Link), width));
    painter.drawRect(spots_[static_cast<std::size_t>(spot)].area.adjusted(-0.5, -0.5, 0.5, 0.5));
  };
  frame(hovered_, 1);
  if (hasFocus()) frame(current_, 2);
}

void PageCanvas::resizeEvent(QResizeEvent*) { measure(); }

std::ptrdiff_t PageCanvas::spotAt(QPointF position) const {
  // Later ones lie on top; a thin one is found within two pixels.
  for (std::size_t i = spots_.size(); i > 0; --i)
    if (spots_[i - 1].area.contains(position)) return static_cast<std::ptrdiff_t>(i - 1);
  for (std::size_t i = spots_.size(); i > 0; --i)
    if (spots_[i - 1].area.adjusted(-2, -2, 2, 2).contains(position))
      return static_cast<std::ptrdiff_t>(i - 1);
  return -1;
}

void PageCanvas::mouseMoveEvent(QMouseEvent* event) {
  const std::ptrdiff_t spot = spotAt(event->position());
  if (spot == hovered_) return;
  hovered_ = spot;
  setCursor(spot < 0 ? Qt::ArrowCursor : Qt::PointingHandCursor);
  emit hovered(spot < 0 ? -1 : static_cast<qint64>(spots_[static_cast<std::size_t>(spot)].id));
  update();
}

void PageCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
  const std::ptrdiff_t spot = spotAt(event->position());
  if (spot < 0) return;
  current_ = spot;
  emit activated(spots_[static_cast<std::size_t>(spot)].id);
}

void PageCanvas::leaveEvent(QEvent*) {
  hovered_ = -1;
  emit hovered(-1);
  update();
}

void PageCanvas::setCurrent(std::ptrdiff_t spot) {
  current_ = spot;
  if (spot < 0) return update();
  const HotSpot& chosen = spots_[static_cast<std::size_t>(spot)];
  for (QWidget* w = parentWidget(); w != nullptr; w = w->parentWidget())
    if (auto* scroll = qobject_cast<QScrollArea*>(w)) {
      const QPoint centre = chosen.area.center().toPoint();
      scroll->ensureVisible(centre.x(), centre.y(), 40, 60);
      break;
    }
  emit hovered(static_cast<qint64>(chosen.id));
  update();
}

void PageCanvas::keyPressEvent(QKeyEvent* event) {
  const auto count = static_cast<std::ptrdiff_t>(spots_.size());
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (current_ >= 0 && current_ < count) emit activated(spots_[static_cast<std::size_t>(current_)].id);
      return;
    case Qt::Key_Down:
    case Qt::Key_Right:
      if (count > 0) setCurrent(std::min(current_ + 1, count - 1));
      return;
    case Qt::Key_Up:
    case Qt::Key_Left:
      if (count > 0) setCurrent(std::max<std::ptrdiff_t>(current_ - 1, 0));
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

bool PageCanvas::focusNextPrevChild(bool next) {
  const auto count = static_cast<std::ptrdiff_t>(spots_.size());
  const std::ptrdiff_t wanted = current_ + (next ? 1 : -1);
  if (!hasFocus() || wanted < 0 || wanted >= count) return QWidget::focusNextPrevChild(next);
  setCurrent(wanted);
  return true;
}

void PageCanvas::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange) refresh();
  QWidget::changeEvent(event);
}

bool PageCanvas::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const std::ptrdiff_t spot = spotAt(help->pos());
    if (spot < 0)
      QToolTip::hideText();
    else
      QToolTip::showText(help->globalPos(), spots_[static_cast<std::size_t>(spot)].tip, this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace vsim::gui
