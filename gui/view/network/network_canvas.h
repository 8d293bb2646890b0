#pragma once

#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "gui/paint/network_painter.h"

namespace vsim::gui {

/// The cluster by tiers and the traffic between its nodes. A click on a link chooses its tier.
class TopologyCanvas : public QWidget {
  Q_OBJECT
 public:
  explicit TopologyCanvas(QWidget* parent);
  void show(const NetworkPicture& picture, std::shared_ptr<const TrafficMatrix> matrix);
  void setPalette(const Palette& palette);
  void draw(QPainter& painter, const QRectF& area);
  [[nodiscard]] const std::vector<LinkPlace>& links() const { return links_; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {420, 220}; }

 signals:
  void tierPicked(int tier);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  [[nodiscard]] QRectF trafficArea(const QRectF& area) const;
  [[nodiscard]] std::optional<LinkTier> tierAt(const QPointF& position) const;

  NetworkPicture picture_;
  std::shared_ptr<const TrafficMatrix> matrix_;  // shared with background work; null: in the making
  const Palette* palette_;
  std::vector<LinkPlace> links_;
};

/// Load of every tier over time. Zoom, limit and cursor are asked for by signals.
class LoadCanvas : public QWidget {
  Q_OBJECT
 public:
  explicit LoadCanvas(QWidget* parent);
  void show(const NetworkPicture& picture);
  void setPalette(const Palette& palette);
  void draw(QPainter& painter, const QRectF& area) const;
  [[nodiscard]] TimeAxis axis() const;
  [[nodiscard]] QSize minimumSizeHint() const override { return {420, 140}; }

 signals:
  void zoomed(double factor, double column);
  void panned(double columns);
  void cursorAsked(qint64 time);
  void limitAsked(qint64 begin, qint64 end);
  void tierPicked(int tier);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] double column(const QPointF& position) const;
  void showTip(const QPoint& place, const QPointF& position);

  NetworkPicture picture_;
  const Palette* palette_;
  QPointF pressed_;
  double draggedTo_ = 0;
  bool pressing_ = false, dragging_ = false;
};

}  // namespace vsim::gui
