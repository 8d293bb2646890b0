#pragma once

#include <QWidget>
#include <memory>

#include "gui/paint/memory_treemap.h"
#include "gui/session/session.h"

namespace vsim::gui {

/// What is live as nested rectangles. A click selects a buffer; arrow keys go from tile to tile.
class TreemapWidget : public QWidget {
  Q_OBJECT
 public:
  using Live = std::shared_ptr<const LiveSet>;  // shared with the job that made it

  TreemapWidget(Session& session, QWidget* parent);
  /// Null: nothing. `log` holds the program that the buffers are of.
  void setLive(Live live, std::shared_ptr<const core::ExecutionLog> log);
  [[nodiscard]] const MemoryTreemap& map() const { return map_; }

 signals:
  void hovered(const QString& text);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  void layOut();
  void pick(int tile);
  void moveFocus(QPointF direction);
  [[nodiscard]] QString describe(int tile) const;

  Session& session_;
  Live live_;
  std::shared_ptr<const core::ExecutionLog> log_;  // shared with the run
  MemoryTreemap map_;
  int focus_ = -1;
};

}  // namespace vsim::gui
