#pragma once

#include <QWidget>
#include <vector>

#include "gui/paint/memory_style.h"

namespace vsim::gui {

/// Legend that is as high as its entries need at its width.
class LegendWidget : public QWidget {
  Q_OBJECT
 public:
  LegendWidget(Session& session, QWidget* parent);
  void setEntries(std::vector<MemoryLegendEntry> entries);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void adapt();

  Session& session_;
  std::vector<MemoryLegendEntry> entries_;
};

}  // namespace vsim::gui
