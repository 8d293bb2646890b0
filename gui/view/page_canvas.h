#pragma once

#include <QWidget>
#include <functional>
#include <vector>

#include "gui/paint/sheet.h"

namespace vsim::gui {

/// A drawn page with links: hover, click, and Tab or arrow keys with Enter. The page itself is a function, so
/// that screen, export and tests draw the same.
class PageCanvas : public QWidget {
  Q_OBJECT
 public:
  /// Draws the page into `size`; answers the height that it needs (0: as given). `spots` may be null.
  using Draw = std::function<double(QPainter& painter, QSizeF size, std::vector<HotSpot>* spots)>;

  explicit PageCanvas(QWidget* parent);

  void setDraw(Draw draw);
  /// The content has changed: height and links are taken anew.
  void refresh();
  [[nodiscard]] const std::vector<HotSpot>& spots() const { return spots_; }
  [[nodiscard]] bool hasHeightForWidth() const override { return fixedHeight_ > 0; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {200, fixedHeight_}; }

 signals:
  void activated(std::size_t id);
  void hovered(qint64 id);  // -1: none

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool event(QEvent* event) override;
  bool focusNextPrevChild(bool next) override;

 private:
  [[nodiscard]] std::ptrdiff_t spotAt(QPointF position) const;
  void setCurrent(std::ptrdiff_t spot);
  void measure();

  Draw draw_;
  std::vector<HotSpot> spots_;
  std::ptrdiff_t hovered_ = -1, current_ = -1;  // into spots_
  int fixedHeight_ = 0;
  bool measuring_ = false;
};

}  // namespace vsim::gui
