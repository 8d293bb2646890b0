#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/model/slice_details.h"
#include "gui/model/track_figures.h"
#include "gui/view/timeline/timeline_canvas.h"

// What the mouse does on the timeline.

namespace vsim::gui {
namespace {

constexpr double kClickPixels = 4;  // less movement is a click

}  // namespace

void TimelineCanvas::wheelEvent(QWheelEvent* event) {
  if (!scene_) return;
  event->accept();
  const QPoint turned = event->angleDelta();
  constexpr double kNotch = 120;
  if (event->modifiers() & Qt::ControlModifier) {
    const double factor = std::pow(0.8, turned.y() / kNotch);
    session_.setZoom(zoomed(axis(), event->position().x() - margins_.tree, factor, whole()));
  } else if (event->modifiers() & Qt::ShiftModifier || std::abs(turned.x()) > std::abs(turned.y())) {
    const int along = turned.x() != 0 ? turned.x() : turned.y();
    panBy(-along / kNotch * 0.1);
  } else {
    setScroll(scroll_ - turned.y() / 2);
  }
}

void TimelineCanvas::mousePressEvent(QMouseEvent* event) {
  if (!scene_ || (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton)) return;
  setFocus(Qt::MouseFocusReason);
  pressedAt_ = lastAt_ = event->position();
  pressedWith_ = event->modifiers();
  button_ = event->button();
  pressedScroll_ = scroll_;
  drag_ = Drag::pressed;
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* event) {
  if (!scene_) return;
  const QPointF position = event->position();
  if (drag_ == Drag::pressed && (position - pressedAt_).manhattanLength() > kClickPixels) {
    const bool pan = button_ == Qt::MiddleButton || (pressedWith_ & Qt::ShiftModifier);
    drag_ = pressedAt_.x() < margins_.tree ? Drag::none : pan ? Drag::pan : Drag::area;
    if (drag_ == Drag::pan) setCursor(Qt::ClosedHandCursor);
  }
  if (drag_ == Drag::pan) {
    session_.setZoom(panned(axis(), lastAt_.x() - position.x(), whole()));
    setScroll(pressedScroll_ + static_cast<int>(pressedAt_.y() - position.y()));
  } else if (drag_ == Drag::area) {
    dragArea(position);
  } else if (drag_ == Drag::none) {
    hover(position);
  }
  lastAt_ = position;
}

void TimelineCanvas::dragArea(QPointF position) {
  if (rows_.empty()) return;
  const TimeAxis now = axis();
  const auto timeAt = [&](QPointF at) {
    return now.toTime(std::clamp<double>(at.x() - margins_.tree, 0, now.width));
  };
  const core::Picoseconds a = timeAt(pressedAt_), b = timeAt(position), begin = std::min(a, b);
  Area area{.range = {begin, std::max({begin + 1, a, b})}, .first = 0, .last = rows_.size()};
  if (pressedAt_.y() >= lanesTop()) {  // from the ruler: all rows
    area.first = std::min(rowAt(std::min(pressedAt_.y(), position.y())), rows_.size() - 1);
    area.last = std::min(rowAt(std::max(pressedAt_.y(), position.y())) + 1, rows_.size());
  }
  setArea(area);
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != button_) return;
  const bool clicked = drag_ == Drag::pressed && button_ == Qt::LeftButton;
  drag_ = Drag::none;
  button_ = Qt::NoButton;
  unsetCursor();
  if (clicked && scene_) click(event->position());
}

void TimelineCanvas::click(QPointF position) {
  if (position.x() < margins_.tree) {
    const std::size_t r = rowAt(position.y());
    if (position.y() < lanesTop() || r >= rows_.size()) return;
    if (rows_[r].kind == TimelineRow::Kind::rankClass)
      setClosed(rows_[r].rankClass, !closed_.contains(rows_[r].rankClass));
    else if (rows_[r].lane >= 0)  // its statistics
      setArea(Area{.range = axis().view, .first = r, .last = r + 1});
    return;
  }
  const TimeAxis now = axis();
  const core::Picoseconds time = now.toTime(position.x() - margins_.tree);
  if (margins_.heat > 0 && position.y() >= margins_.ruler && position.y() < lanesTop()) {
    const auto classes = static_cast<double>(scene_->classes().size());
    const double row = (position.y() - margins_.ruler) / margins_.heat * classes;
    setClosed(std::min(scene_->classes().size() - 1, static_cast<std::size_t>(row)), false);
    const core::Picoseconds length = std::max(kShortestView, now.view.length() / 8);
    session_.setZoom({time - length / 2, time - length / 2 + length});
    return;
  }
  if (area_) setArea(std::nullopt);
  session_.select(selectionOf(sliceAt(position)));
  session_.setCursor(time);
}

void TimelineCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  const SliceRef slice = sliceAt(event->position());
  if (!slice.valid()) return;
  const LaneColumns& lane = scene_->data().lanes[static_cast<std::size_t>(slice.lane)];
  const auto i = static_cast<std::size_t>(slice.slice);
  const core::Picoseconds margin = (lane.end[i] - lane.begin[i]) / 2;
  fit({lane.begin[i] - margin, lane.end[i] + margin});
}

void TimelineCanvas::hover(QPointF position) {
  const std::size_t row = position.y() < lanesTop() ? rows_.size() : rowAt(position.y());
  const bool onTitle = position.x() < margins_.tree && row < rows_.size();
  const SliceRef slice = onTitle ? SliceRef() : sliceAt(position);
  const std::size_t title = onTitle ? row : kNoRow;
  if (slice == hovered_ && title == hoveredTitle_) return;
  hoveredTitle_ = title;
  hovered_ = slice;
  update();
  const QString text = onTitle         ? QString::fromStdString(trackLine(*scene_, rows_[row]))
                       : slice.valid() ? QString::fromStdString(sliceLine(scene_->data(), slice))
                                       : QString();
  setToolTip(text);
  emit hoverChanged(text);
}

void TimelineCanvas::leaveEvent(QEvent*) {
  hovered_ = {};
  hoveredTitle_ = kNoRow;
  update();
  emit hoverChanged({});
}

}  // namespace vsim::gui
