#pragma once

#include <QWidget>
#include <memory>

#include "gui/paint/flame_painter.h"
#include "gui/session/session.h"

namespace vsim::gui {

/// The time of an area as a flame graph: a click widens a bar, a click on a bar above narrows again. Arrow
/// keys go from bar to bar, Enter widens, Backspace goes up.
class FlameWidget : public QWidget {
  Q_OBJECT
 public:
  FlameWidget(Session& session, QWidget* parent);
  void setFlame(AreaFlame flame);
  [[nodiscard]] const AreaFlame& flame() const { return flame_; }
  [[nodiscard]] std::size_t zoom() const { return zoom_; }
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void layOut();
  void zoomTo(std::size_t node);
  void moveFocus(int key);
  [[nodiscard]] int rowHeight() const { return fontMetrics().height() + 4; }
  [[nodiscard]] QString describe(std::size_t node) const;

  Session& session_;
  AreaFlame flame_;
  FlameLayout layout_;
  std::size_t zoom_ = 0;
  int focus_ = -1;  // node
};

}  // namespace vsim::gui
