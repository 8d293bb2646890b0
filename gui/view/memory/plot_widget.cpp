#include "gui/view/memory/plot_widget.h"

#include <QMouseEvent>
#include <QWheelEvent>
#include <cmath>

namespace vsim::gui {
namespace {

constexpr double kZoomStep = 1.2;  // of one notch of the wheel
constexpr int kDragStart = 4;      // pixels before a click becomes a drag

}  // namespace

MemoryPlotWidget::MemoryPlotWidget(Session& session, QWidget* parent)
    : QWidget(parent), session_(session), painter_(paletteOf(session.theme())) {
  setAccessibleName("memory over time");
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setMinimumHeight(120);
  const auto redraw = [this] { update(); };
  connect(&session, &Session::zoomChanged, this, redraw);
  connect(&session, &Session::cursorChanged, this, redraw);
  connect(&session, &Session::limitChanged, this, redraw);
  connect(&session, &Session::selectionChanged, this, redraw);
  connect(&session, &Session::themeChanged, this, [this] {
    painter_.setPalette(paletteOf(session_.theme()));
    update();
  });
}

void MemoryPlotWidget::setData(Data data) {
  painter_.setPalette(paletteOf(session_.theme()));  // a new log may lie where the old one was
  data_ = std::move(data);
  instant_ = data_ ? data_->curve.peak() : -1;
  update();
}

void MemoryPlotWidget::setInstant(std::int64_t event) {
  instant_ = event;
  update();
}

void MemoryPlotWidget::setWholeBoard(bool whole) {
  wholeBoard_ = whole;
  update();
}

TimeRange MemoryPlotWidget::view() const {
  if (!session_.zoom().empty() || !data_) return session_.zoom();
  return data_->curve.whole();
}

MemoryPlotState MemoryPlotWidget::state() const {
  const Selection& selection = session_.selection();
  MemoryPlotState state{.view = view(), .instant = instant_};
  state.cursor = session_.cursor();
  state.limit = session_.limit();
  if (selection.kind == Selection::Kind::buffer && selection.report == session_.report() &&
      selection.item >= 0)
    state.selected = static_cast<core::Index>(selection.item);
  state.wholeBoard = wholeBoard_;
  return state;
}

MemoryPlotGeometry MemoryPlotWidget::geometry() const {
  return painter_.geometry(rect(), data_.get(), state(), font());
}

void MemoryPlotWidget::zoomBy(double factor) {
  if (!data_) return;
  const MemoryPlotGeometry g = geometry();
  const QPoint pointer = mapFromGlobal(QCursor::pos());
  const double x =
      underMouse() && g.plot.contains(pointer) ? pointer.x() - g.plot.left() : g.plot.width() / 2.0;
  session_.setZoom(zoomed(g.axis, x, factor, data_->curve.whole()));
}

void MemoryPlotWidget::panBy(double share) {
  if (!data_) return;
  const MemoryPlotGeometry g = geometry();
  session_.setZoom(panned(g.axis, share * g.plot.width(), data_->curve.whole()));
}

void MemoryPlotWidget::fit() {
  if (data_) session_.setZoom(data_->curve.whole());
}

void MemoryPlotWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(font());
  painter_.paint(painter, rect(), data_.get(), state());
  if (hasFocus()) {
    painter.setPen(QPen(paletteOf(session_.theme()).accent, 1, Qt::DotLine));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void MemoryPlotWidget::wheelEvent(QWheelEvent* event) {
  if (!data_) return;
  const MemoryPlotGeometry g = geometry();
  const double notches = event->angleDelta().y() / 120.0, aside = event->angleDelta().x() / 120.0;
  if (std::abs(aside) > std::abs(notches) || event->modifiers().testFlag(Qt::ShiftModifier)) {
    const double by = std::abs(aside) > std::abs(notches) ? aside : notches;
    session_.setZoom(panned(g.axis, -by * g.plot.width() / 10, data_->curve.whole()));
  } else {
    session_.setZoom(zoomed(g.axis, event->position().x() - g.plot.left(), std::pow(kZoomStep, -notches),
                            data_->curve.whole()));
  }
  event->accept();
}

void MemoryPlotWidget::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !data_) return;
  drag_ = Drag::pressed;
  pressed_ = last_ = event->pos();
}

void MemoryPlotWidget::mouseMoveEvent(QMouseEvent* event) {
  const MemoryPlotGeometry g = geometry();
  if (drag_ == Drag::pressed && (event->pos() - pressed_).manhattanLength() >= kDragStart)
    drag_ = event->modifiers().testFlag(Qt::ShiftModifier) ? Drag::limit : Drag::pan;
  if (drag_ == Drag::pan) {
    session_.setZoom(panned(g.axis, last_.x() - event->pos().x(), data_->curve.whole()));
    last_ = event->pos();
    return;
  }
  hover(event->pos());
}

void MemoryPlotWidget::mouseReleaseEvent(QMouseEvent* event) {
  const Drag drag = std::exchange(drag_, Drag::none);
  if (!data_ || drag == Drag::none || event->button() != Qt::LeftButton) return;
  const MemoryPlotGeometry g = geometry();
  if (drag == Drag::limit) {
    const core::Picoseconds a = g.axis.toTime(pressed_.x() - g.plot.left()),
                            b = g.axis.toTime(event->pos().x() - g.plot.left());
    session_.setLimit(TimeRange{std::min(a, b), std::max(a, b)});
  } else if (drag == Drag::pressed) {
    if (const MemoryExtent* column = painter_.columnAt(event->pos().x())) emit instantPicked(column->peak);
  }
}

void MemoryPlotWidget::mouseDoubleClickEvent(QMouseEvent*) { fit(); }

void MemoryPlotWidget::leaveEvent(QEvent*) { emit hovered({}); }

void MemoryPlotWidget::hover(const QPoint& at) {
  const MemoryExtent* column = data_ ? painter_.columnAt(at.x()) : nullptr;
  if (column == nullptr) return emit hovered({});
  const MemoryPlotGeometry g = geometry();
  const MemoryParts parts = data_->curve.partsAfter(column->peak);
  QString text = QString("%1   allocated %2 to %3   active %4   reserved %5")
                     .arg(timeText(g.axis.toTime(at.x() - g.plot.left())), bytesText(column->allocated.least),
                          bytesText(column->allocated.most), bytesText(column->active.most),
                          bytesText(column->reserved.most));
  const double value = (g.plot.bottom() + 1 - at.y()) * static_cast<double>(g.top) / g.plot.height();
  core::Bytes sum = 0;
  for (std::size_t p = 0; p < kMemoryParts && value >= 0; ++p) {
    sum += parts[p];
    if (value >= static_cast<double>(sum) || parts[p] == 0) continue;
    text =
        QString("%1 %2   ").arg(QString::fromStdString(std::string(memoryPartName(p))), bytesText(parts[p])) +
        text;
    break;
  }
  emit hovered(text);
}

}  // namespace vsim::gui
