#include "gui/view/network/network_canvas.h"

#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "gui/model/figure_text.h"

namespace vsim::gui {
namespace {

QString percent(double share) { return QString("%1 %").arg(100 * share, 0, 'f', 1); }

/// Loads by kind of collective, one a line.
QString describeLoad(const NetworkTier& tier, const LoadParts& load) {
  QString text = QString("%1: %2 of %3 a GPU")
                     .arg(QString::fromStdString(tier.name), percent(sumOf(load)),
                          QString::fromStdString(bandwidthText(tier.perGpu)));
  for (std::size_t p = 0; p < kLoadParts; ++p)
    if (load[p] > 0)
      text += QString("\n  %1 %2 (%3)")
                  .arg(QString::fromUtf8(kSliceClassNames[static_cast<std::size_t>(classOfPart(p))].data()),
                       percent(load[p]), QString::fromStdString(bandwidthText(load[p] * tier.perGpu)));
  return text;
}

}  // namespace

TopologyCanvas::TopologyCanvas(QWidget* parent) : QWidget(parent), palette_(&paletteOf(Theme::light)) {
  setMouseTracking(true);
  setAccessibleName("Topology by tiers and traffic between nodes");
}

void TopologyCanvas::show(const NetworkPicture& picture, std::shared_ptr<const TrafficMatrix> matrix) {
  const auto hovered = picture_.hovered;
  picture_ = picture;
  picture_.hovered = hovered;
  matrix_ = std::move(matrix);
  update();
}

void TopologyCanvas::setPalette(const Palette& palette) {
  palette_ = &palette;
  update();
}

QRectF TopologyCanvas::trafficArea(const QRectF& area) const {
  const double side = std::min(area.width() * 0.42, area.height() * 1.25);
  return {area.right() - side, area.top(), side, area.height()};
}

void TopologyCanvas::draw(QPainter& painter, const QRectF& area) {
  painter.fillRect(area, palette_->background);
  if (!picture_.map || !picture_.map->known()) return;
  const QRectF traffic = trafficArea(area);
  links_ = drawTopology(painter, *palette_, picture_,
                        QRectF(area.left(), area.top(), traffic.left() - area.left(), area.height()));
  if (matrix_) drawTraffic(painter, *palette_, *picture_.map, *matrix_, traffic);
}

void TopologyCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  draw(painter, rect());
}

std::optional<LinkTier> TopologyCanvas::tierAt(const QPointF& position) const {
  for (const LinkPlace& link : links_)
    if (link.area.contains(position)) return link.tier;
  return std::nullopt;
}

void TopologyCanvas::mouseMoveEvent(QMouseEvent* event) {
  const auto tier = tierAt(event->position());
  if (tier != picture_.hovered) {
    picture_.hovered = tier;
    update();
  }
  QString tip;
  if (tier && picture_.map) {
    const NetworkTier& t = picture_.map->tier(*tier);
    tip = describeLoad(
        t, picture_.cursor ? t.load.at(*picture_.cursor) : t.load.summary(picture_.window()).mean);
    tip += picture_.cursor ? "\nat the cursor" : "\non average";
    if (t.upperBound) tip += "\ncounts all that leaves nodes of groups that span pods: at most so much";
  } else if (matrix_) {
    if (const auto cell = trafficCellAt(*matrix_, trafficArea(rect()), event->position()))
      tip = describeCell(*matrix_, *cell);
  }
  QToolTip::showText(event->globalPosition().toPoint(), tip, this);
}

void TopologyCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (const auto tier = tierAt(event->position())) emit tierPicked(static_cast<int>(*tier));
}

void TopologyCanvas::leaveEvent(QEvent*) {
  picture_.hovered.reset();
  update();
}

LoadCanvas::LoadCanvas(QWidget* parent) : QWidget(parent), palette_(&paletteOf(Theme::light)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName("Load of the links over time");
}

void LoadCanvas::show(const NetworkPicture& picture) {
  picture_ = picture;
  update();
}

void LoadCanvas::setPalette(const Palette& palette) {
  palette_ = &palette;
  update();
}

void LoadCanvas::draw(QPainter& painter, const QRectF& area) const {
  painter.fillRect(area, palette_->background);
  if (picture_.map && picture_.map->known() && !picture_.zoom.empty())
    drawLoads(painter, *palette_, picture_, area);
}

void LoadCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  draw(painter, rect());
}

TimeAxis LoadCanvas::axis() const {
  const double wide = picture_.map ? loadLayout(*picture_.map, rect()).plots.width() : 1;
  return {picture_.zoom, std::max(1, static_cast<int>(wide))};
}

double LoadCanvas::column(const QPointF& position) const {
  return picture_.map ? position.x() - loadLayout(*picture_.map, rect()).plots.left() : 0;
}

void LoadCanvas::wheelEvent(QWheelEvent* event) {
  const double turns = event->angleDelta().y() / 120.0;
  if (event->modifiers() & Qt::ShiftModifier || event->angleDelta().y() == 0)
    emit panned(-60 * (turns + event->angleDelta().x() / 120.0));
  else
    emit zoomed(std::pow(0.8, turns), column(event->position()));
  event->accept();
}

void LoadCanvas::mousePressEvent(QMouseEvent* event) {
  pressing_ = event->button() == Qt::LeftButton;
  dragging_ = false;
  pressed_ = event->position();
  draggedTo_ = event->position().x();
}

void LoadCanvas::mouseMoveEvent(QMouseEvent* event) {
  if (!picture_.map) return;
  if (!pressing_) return showTip(event->globalPosition().toPoint(), event->position());
  if (!dragging_ && (event->position() - pressed_).manhattanLength() < 4) return;
  dragging_ = true;
  if (!(event->modifiers() & Qt::ShiftModifier)) emit panned(draggedTo_ - event->position().x());
  draggedTo_ = event->position().x();
}

void LoadCanvas::mouseReleaseEvent(QMouseEvent* event) {
  const bool click = pressing_ && !dragging_, dragged = dragging_;
  pressing_ = dragging_ = false;
  if (!picture_.map || picture_.zoom.empty()) return;
  const TimeAxis times = axis();
  if (dragged && event->modifiers() & Qt::ShiftModifier) {
    const core::Picoseconds a = times.toTime(column(pressed_)), b = times.toTime(column(event->position()));
    emit limitAsked(std::min(a, b), std::max(a, b));
  }
  if (!click) return;
  const LoadLayout layout = loadLayout(*picture_.map, rect());
  if (event->position().x() < layout.plots.left()) {  // the strip's name
    for (std::size_t i = 0; i < layout.strips.size(); ++i)
      if (event->position().y() >= layout.strips[i].top() &&
          event->position().y() < layout.strips[i].bottom())
        emit tierPicked(static_cast<int>(layout.tiers[i]));
    return;
  }
  emit cursorAsked(times.toTime(column(event->position())));
}

void LoadCanvas::showTip(const QPoint& place, const QPointF& position) {
  QString tip;
  if (!picture_.zoom.empty() && picture_.map->known()) {
    const LoadLayout layout = loadLayout(*picture_.map, rect());
    const auto x = static_cast<int>(column(position));
    const TimeAxis times = axis();
    for (std::size_t i = 0; i < layout.strips.size(); ++i) {
      if (!layout.strips[i].contains(position) || x >= times.width) continue;
      const NetworkTier& tier = picture_.map->tier(layout.tiers[i]);
      const LoadCurve::Summary here = tier.load.summary({times.boundary(x), times.boundary(x + 1)});
      tip = describeLoad(tier, here.mean) +
            QString("\npeak %1 at %2")
                .arg(percent(sumOf(here.peak)),
                     QString::fromStdString(timeText(core::secondsFromPicoseconds(here.peakTime))));
    }
  }
  QToolTip::showText(place, tip, this);
}

}  // namespace vsim::gui
