#pragma once

#include <QWidget>
#include <memory>

#include "gui/paint/group_size_plot.h"

namespace vsim::gui {

/// The plot of padding over group sizes; a click chooses a size, as do the arrow keys.
class GroupSizeCanvas : public QWidget {
  Q_OBJECT
 public:
  explicit GroupSizeCanvas(QWidget* parent);
  void setStudy(std::shared_ptr<const GroupSizeStudy> study);  // shared with the view; null: in the making
  void setChosen(std::int64_t size);
  void setPalette(const Palette& palette);
  void draw(QPainter& painter, const QRectF& area) const;
  [[nodiscard]] QSize minimumSizeHint() const override { return {340, 170}; }

 signals:
  void chosen(qint64 size);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  std::shared_ptr<const GroupSizeStudy> study_;
  const Palette* palette_;
  std::int64_t chosen_ = 0, hovered_ = 0;
};

}  // namespace vsim::gui
