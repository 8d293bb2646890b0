#include "gui/view/memory/segments_widget.h"

#include <QMouseEvent>
#include <QPaintEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace vsim::gui {
namespace {

constexpr double kMostZoom = 64;

}  // namespace

SegmentsWidget::SegmentsWidget(Session& session, QScrollArea* parent)
    : QWidget(parent), session_(session), area_(*parent) {
  setAccessibleName("segments and blocks of the allocator");
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  parent->setWidget(this);
  parent->viewport()->installEventFilter(this);
  const auto redraw = [this] { update(); };
  connect(&session, &Session::selectionChanged, this, redraw);
  connect(&session, &Session::themeChanged, this, redraw);
}

void SegmentsWidget::setMap(Data data, std::shared_ptr<const AllocatorMap> map) {
  data_ = std::move(data);
  map_ = std::move(map);
  layOut();
}

void SegmentsWidget::setZoom(double zoom) {
  zoom_ = std::clamp(zoom, 1.0, kMostZoom);
  layOut();
}

void SegmentsWidget::layOut() {
  const QSize visible = area_.viewport()->size();
  if (map_)
    layout_ = layoutSegments(*map_, visible, zoom_, font());
  else
    layout_ = {};
  resize(visible.width(), std::max(visible.height(), layout_.height));
  update();
}

bool SegmentsWidget::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) layOut();
  return QWidget::eventFilter(watched, event);
}

void SegmentsWidget::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.setFont(font());
  const Palette& palette = paletteOf(session_.theme());
  painter.fillRect(event->rect(), palette.background);
  if (data_ && map_)
    drawSegments(painter, palette, *data_, *map_, layout_, event->rect(), session_.links().buffers);
}

QString SegmentsWidget::describe(const SegmentLayout::Hit& hit) const {
  if (hit.segment < 0 || !data_) return {};
  const AllocatorMap::Segment& segment = map_->segments[static_cast<std::size_t>(hit.segment)];
  const AllocatorMap::Block& block = segment.blocks[static_cast<std::size_t>(hit.block)];
  const auto& streams = data_->program().streams;
  const QString place =
      QString("   at 0x%1 in a %2 segment of %3, pool of stream %4")
          .arg(block.address, 0, 16)
          .arg(segment.small ? "small" : "large", bytesText(segment.size),
               segment.stream < streams.size() ? QString::fromStdString(streams[segment.stream])
                                               : QString::number(segment.stream));
  if (block.lifetime < 0) return QString("free block of %1").arg(bytesText(block.size)) + place;
  const core::Index buffer = data_->lifetimes.all()[static_cast<std::size_t>(block.lifetime)].buffer;
  return QString("%1   %2, asked for %3")
             .arg(QString::fromStdString(bufferTitle(data_->program(), buffer)), bytesText(block.size),
                  bytesText(block.asked)) +
         place;
}

void SegmentsWidget::mousePressEvent(QMouseEvent* event) {
  if (!map_ || !data_) return;
  const SegmentLayout::Hit hit = layout_.at(*map_, event->pos());
  emit hovered(describe(hit));
  if (hit.segment < 0) return;
  const auto& block =
      map_->segments[static_cast<std::size_t>(hit.segment)].blocks[static_cast<std::size_t>(hit.block)];
  if (block.lifetime < 0) return;
  const core::Index buffer = data_->lifetimes.all()[static_cast<std::size_t>(block.lifetime)].buffer;
  session_.select({Selection::Kind::buffer, session_.report(), -1, static_cast<std::int64_t>(buffer), -1});
}

void SegmentsWidget::mouseMoveEvent(QMouseEvent* event) {
  if (map_) emit hovered(describe(layout_.at(*map_, event->pos())));
}

void SegmentsWidget::wheelEvent(QWheelEvent* event) {
  if (!event->modifiers().testFlag(Qt::ControlModifier)) return event->ignore();  // the area scrolls
  setZoom(zoom_ * std::pow(1.2, event->angleDelta().y() / 120.0));
  event->accept();
}

void SegmentsWidget::leaveEvent(QEvent*) { emit hovered({}); }

}  // namespace vsim::gui
