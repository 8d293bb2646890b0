#include "gui/view/timeline/flame_widget.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>

#include "gui/model/slice_details.h"

namespace vsim::gui {

FlameWidget::FlameWidget(Session& session, QWidget* parent) : QWidget(parent), session_(session) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName("flame graph of the area");
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  connect(&session_, &Session::themeChanged, this, qOverload<>(&QWidget::update));
  hide();
}

void FlameWidget::setFlame(AreaFlame flame) {
  flame_ = std::move(flame);
  zoom_ = 0;
  focus_ = -1;
  setVisible(!flame_.nodes.empty());
  updateGeometry();
  layOut();
}

QSize FlameWidget::sizeHint() const { return {300, std::max(1, flame_.depth()) * rowHeight()}; }

void FlameWidget::layOut() {
  layout_ = layOutFlame(flame_, zoom_, size(), rowHeight());
  update();
}

void FlameWidget::resizeEvent(QResizeEvent*) { layOut(); }

void FlameWidget::zoomTo(std::size_t node) {
  zoom_ = node;
  focus_ = static_cast<int>(node);
  setAccessibleDescription(describe(node));
  layOut();
}

QString FlameWidget::describe(std::size_t node) const {
  const AreaFlame::Node& n = flame_.nodes[node];
  const double all = static_cast<double>(std::max<core::Picoseconds>(1, flame_.nodes[0].time));
  return QString("%1: %2, %3 % of the area's work, %4 %5")
      .arg(QString::fromStdString(flame_.path(node)), QString::fromStdString(timeText(n.time)))
      .arg(100 * static_cast<double>(n.time) / all, 0, 'f', 1)
      .arg(n.count)
      .arg(n.count == 1 ? "slice" : "slices");
}

bool FlameWidget::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int bar = layout_.at(help->pos());
  if (bar >= 0)
    QToolTip::showText(help->globalPos(), describe(layout_.bars[static_cast<std::size_t>(bar)].node), this);
  else
    QToolTip::hideText();
  return true;
}

void FlameWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Palette& palette = paletteOf(session_.theme());
  painter.fillRect(rect(), palette.background);
  drawFlame(painter, palette, flame_, layout_, focus_);
}

void FlameWidget::mousePressEvent(QMouseEvent* event) {
  const int bar = layout_.at(event->position());
  if (bar >= 0) zoomTo(layout_.bars[static_cast<std::size_t>(bar)].node);
}

void FlameWidget::moveFocus(int key) {
  if (layout_.bars.empty()) return;
  const std::size_t from = focus_ >= 0 ? static_cast<std::size_t>(focus_) : zoom_;
  const AreaFlame::Node& now = flame_.nodes[from];
  const bool sideways = key == Qt::Key_Left || key == Qt::Key_Right;
  int best = -1;
  for (const FlameLayout::Bar& bar : layout_.bars) {
    const AreaFlame::Node& node = flame_.nodes[bar.node];
    const auto i = static_cast<int>(bar.node);
    if (key == Qt::Key_Up && bar.node == now.parent) best = i;
    if (key == Qt::Key_Down && node.parent == from && bar.node != from && best < 0) best = i;
    if (!sideways || node.depth != now.depth) continue;
    if (key == Qt::Key_Right && node.begin > now.begin &&
        (best < 0 || node.begin < flame_.nodes[static_cast<std::size_t>(best)].begin))
      best = i;
    if (key == Qt::Key_Left && node.begin < now.begin &&
        (best < 0 || node.begin > flame_.nodes[static_cast<std::size_t>(best)].begin))
      best = i;
  }
  if (best < 0) return;
  focus_ = best;
  setAccessibleDescription(describe(static_cast<std::size_t>(best)));
  update();
}

void FlameWidget::keyPressEvent(QKeyEvent* event) {
  const int key = event->key();
  if (key == Qt::Key_Up || key == Qt::Key_Down || key == Qt::Key_Left || key == Qt::Key_Right)
    moveFocus(key);
  else if ((key == Qt::Key_Return || key == Qt::Key_Enter) && focus_ >= 0)
    zoomTo(static_cast<std::size_t>(focus_));
  else if (key == Qt::Key_Backspace && !flame_.nodes.empty())
    zoomTo(flame_.nodes[zoom_].parent);
  else
    QWidget::keyPressEvent(event);
}

}  // namespace vsim::gui
