#pragma once

#include <QScrollArea>
#include <QWidget>
#include <memory>

#include "gui/paint/memory_segments.h"
#include "gui/session/session.h"

namespace vsim::gui {

/// Segments and blocks at an instant, in a scroll area whose widget this is. A click selects the block's
/// buffer.
class SegmentsWidget : public QWidget {
  Q_OBJECT
 public:
  using Data = std::shared_ptr<const MemoryData>;  // shared with background jobs

  SegmentsWidget(Session& session, QScrollArea* parent);
  void setMap(Data data, std::shared_ptr<const AllocatorMap> map);
  /// 1: everything fits the visible part.
  void setZoom(double zoom);
  [[nodiscard]] double zoom() const { return zoom_; }
  [[nodiscard]] const SegmentLayout& picture() const { return layout_; }

 signals:
  void hovered(const QString& text);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void leaveEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void layOut();
  [[nodiscard]] QString describe(const SegmentLayout::Hit& hit) const;

  Session& session_;
  QScrollArea& area_;
  Data data_;
  std::shared_ptr<const AllocatorMap> map_;  // shared with the job that made it
  SegmentLayout layout_;
  double zoom_ = 1;
};

}  // namespace vsim::gui
