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
  pointer_.reset();
  instant_ = data_ ? data_->curve.peak() : -1;
  events_ = {};
  byEvent_ = data_ && prefersEvents(*data_);
  update();
}

bool MemoryPlotWidget::prefersEvents(const MemoryData& data) {
  return 2 * data.curve.time(data.curve.size() - 1) < data.curve.whole().end;
}

void MemoryPlotWidget::setByEvent(bool byEvent) {
  byEvent_ = byEvent;
  update();
}

TimeRange MemoryPlotWidget::whole() const {
  return byEvent_ ? TimeRange{0, data_->curve.size() * MemoryCurve::kEventUnit} : data_->curve.whole();
}

void MemoryPlotWidget::zoomTo(TimeRange view) {
  if (!byEvent_) return session_.setZoom(view);
  events_ = view;
  update();
}

TimeRange MemoryPlotWidget::visibleTime() const {
  if (!data_) return {};
  const MemoryPlotGeometry g = geometry();
  return {g.timeAt(data_->curve, 0), g.timeAt(data_->curve, g.plot.width())};
}

void MemoryPlotWidget::centreOn(std::int64_t event) {
  if (!data_) return;
  const TimeRange now = view();
  const std::int64_t begin = geometry().placeOf(data_->curve, event) - now.length() / 2;
  const TimeRange centred{begin, begin + now.length()};
  zoomTo(centred == now || now == whole() ? whole() : centred);
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
  const TimeRange set = byEvent_ ? events_ : session_.zoom();
  return set.empty() && data_ ? whole() : set;
}

MemoryPlotState MemoryPlotWidget::state() const {
  MemoryPlotState state{.view = view(), .byEvent = byEvent_, .instant = instant_};
  state.cursor = pointer_ ? pointer_ : session_.cursor();
  state.limit = session_.limit();
  state.selected = session_.links().buffers;
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
  zoomTo(zoomed(g.axis, x, factor, whole()));
}

void MemoryPlotWidget::panBy(double share) {
  if (!data_) return;
  const MemoryPlotGeometry g = geometry();
  zoomTo(panned(g.axis, share * g.plot.width(), whole()));
}

void MemoryPlotWidget::fit() {
  if (data_) zoomTo(whole());
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
    zoomTo(panned(g.axis, -by * g.plot.width() / 10, whole()));
  } else {
    zoomTo(zoomed(g.axis, event->position().x() - g.plot.left(), std::pow(kZoomStep, -notches), whole()));
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
    zoomTo(panned(g.axis, last_.x() - event->pos().x(), whole()));
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
    const core::Picoseconds a = g.timeAt(data_->curve, pressed_.x() - g.plot.left()),
                            b = g.timeAt(data_->curve, event->pos().x() - g.plot.left());
    session_.setLimit(TimeRange{std::min(a, b), std::max(a, b)});
  } else if (drag == Drag::pressed) {
    if (const MemoryExtent* column = painter_.columnAt(event->pos().x())) emit instantPicked(column->peak);
  }
}

void MemoryPlotWidget::mouseDoubleClickEvent(QMouseEvent*) { fit(); }

void MemoryPlotWidget::leaveEvent(QEvent*) { setPointer(std::nullopt); }

void MemoryPlotWidget::setPointer(std::optional<core::Picoseconds> time) {
  if (pointer_ != time) update();
  pointer_ = time;
  if (!time) emit hovered({});
}

void MemoryPlotWidget::hover(const QPoint& at) {
  const MemoryExtent* column = data_ ? painter_.columnAt(at.x()) : nullptr;
  if (column == nullptr) return setPointer(std::nullopt);
  const MemoryPlotGeometry g = geometry();
  const core::Picoseconds time = g.timeAt(data_->curve, at.x() - g.plot.left());
  setPointer(time);
  const MemoryParts parts = data_->curve.partsAfter(column->peak);
  QString text =
      QString("%1   allocated %2 to %3   active %4   reserved %5")
          .arg(timeText(time), bytesText(column->allocated.least), bytesText(column->allocated.most),
               bytesText(column->active.most), bytesText(column->reserved.most));
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
