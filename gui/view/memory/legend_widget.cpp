#include "gui/view/memory/legend_widget.h"

#include <QPicture>

namespace vsim::gui {

LegendWidget::LegendWidget(Session& session, QWidget* parent) : QWidget(parent), session_(session) {
  setAccessibleName("legend");
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void LegendWidget::setEntries(std::vector<MemoryLegendEntry> entries) {
  entries_ = std::move(entries);
  QString text = "legend:";
  for (const MemoryLegendEntry& entry : entries_) text += " " + entry.text + ",";
  setAccessibleDescription(text);
  adapt();
  update();
}

void LegendWidget::adapt() {
  QPicture nowhere;  // measures
  QPainter painter(&nowhere);
  painter.setFont(font());
  const int height =
      drawMemoryLegend(painter, paletteOf(session_.theme()), rect().adjusted(8, 0, -8, 0), entries_);
  setFixedHeight(height);
}

void LegendWidget::resizeEvent(QResizeEvent*) { adapt(); }

void LegendWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(font());
  drawMemoryLegend(painter, paletteOf(session_.theme()), rect().adjusted(8, 0, -8, 0), entries_);
}

}  // namespace vsim::gui
