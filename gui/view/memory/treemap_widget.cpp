#include "gui/view/memory/treemap_widget.h"

#include <QKeyEvent>
#include <QMouseEvent>

namespace vsim::gui {

using Level = MemoryTreemap::Tile::Level;

TreemapWidget::TreemapWidget(Session& session, QWidget* parent) : QWidget(parent), session_(session) {
  setAccessibleName("what is live, as a treemap");
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  const auto redraw = [this] { update(); };
  connect(&session, &Session::selectionChanged, this, redraw);
  connect(&session, &Session::themeChanged, this, redraw);
}

void TreemapWidget::setLive(Live live, std::shared_ptr<const core::ExecutionLog> log) {
  live_ = std::move(live);
  log_ = std::move(log);
  focus_ = -1;
  layOut();
}

void TreemapWidget::layOut() {
  map_ = {};
  if (live_ && log_)
    map_ =
        treemapOf(*live_, *log_->program, QRectF(rect()).adjusted(1, 1, -1, -1), fontMetrics().height() + 3);
  update();
}

void TreemapWidget::resizeEvent(QResizeEvent*) { layOut(); }

void TreemapWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(font());
  const Palette& palette = paletteOf(session_.theme());
  painter.fillRect(rect(), palette.background);
  drawMemoryTreemap(painter, palette, map_, session_.links().buffers, hasFocus() ? focus_ : -1);
}

QString TreemapWidget::describe(int tile) const {
  if (tile < 0 || !live_) return {};
  const MemoryTreemap::Tile& t = map_.tiles[static_cast<std::size_t>(tile)];
  const double share =
      live_->allocated > 0 ? 100.0 * static_cast<double>(t.bytes) / static_cast<double>(live_->allocated) : 0;
  QString text = QString("%1   %2   %3 %").arg(t.name, bytesText(t.bytes), QString::number(share, 'f', 1));
  const QString category = QString::fromStdString(std::string(memoryPartName(t.part)));
  if (t.level != Level::part) text = category + " \u203a " + text;
  for (const LiveSet::Part& part : live_->parts) {
    if (part.part != t.part) continue;
    if (t.level == Level::part) text += QString("   peak without it %1").arg(bytesText(part.peakIfRemoved));
    for (const LiveSet::Unit& unit : part.units)
      for (const LiveBuffer& b : unit.buffers)
        if (t.level == Level::buffer && b.buffer == t.buffer)
          text +=
              QString("   asked %1   allocated at %2, freed at %3   peak without it %4")
                  .arg(bytesText(b.asked), b.allocatedAt ? timeText(*b.allocatedAt) : "a time before the log",
                       b.freedAt ? timeText(*b.freedAt) : "no time in the log", bytesText(b.peakIfRemoved));
  }
  return text;
}

void TreemapWidget::pick(int tile) {
  focus_ = tile;
  update();
  emit hovered(describe(tile));
  if (tile < 0) return;
  const MemoryTreemap::Tile& t = map_.tiles[static_cast<std::size_t>(tile)];
  if (t.level == Level::buffer)
    session_.select(
        {Selection::Kind::buffer, session_.report(), -1, static_cast<std::int64_t>(t.buffer), -1});
  else if (t.level == Level::unit && t.unit != core::kNone)
    session_.select({Selection::Kind::unit, session_.report(), -1, static_cast<std::int64_t>(t.unit), -1});
}

void TreemapWidget::mousePressEvent(QMouseEvent* event) { pick(map_.at(event->position())); }
void TreemapWidget::mouseMoveEvent(QMouseEvent* event) { emit hovered(describe(map_.at(event->position()))); }
void TreemapWidget::leaveEvent(QEvent*) { emit hovered({}); }

/// To the innermost tile next to the edge of the present one.
void TreemapWidget::moveFocus(QPointF direction) {
  if (map_.tiles.empty()) return;
  if (focus_ < 0) return pick(map_.at(QPointF(6, 6 + fontMetrics().height() * 2)));
  const TreemapRect& r = map_.tiles[static_cast<std::size_t>(focus_)].rect;
  QPointF at(r.x + r.width / 2, r.y + r.height / 2);
  for (int i = 0; i < 4096; ++i) {
    at += direction * 3;
    if (!rect().contains(at.toPoint())) return;
    const int next = map_.at(at);
    if (next >= 0 && next != focus_ && map_.tiles[static_cast<std::size_t>(next)].level == Level::buffer)
      return pick(next);
  }
}

void TreemapWidget::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
      return moveFocus({-1, 0});
    case Qt::Key_Right:
      return moveFocus({1, 0});
    case Qt::Key_Up:
      return moveFocus({0, -1});
    case Qt::Key_Down:
      return moveFocus({0, 1});
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace vsim::gui
