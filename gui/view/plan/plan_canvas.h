#pragma once

#include <QWidget>
#include <array>
#include <memory>
#include <optional>

#include "gui/paint/plan_painter.h"

namespace vsim::gui {

/// One or two DBuffer maps, one above the other, with the same scale. The lower one is shifted so that the
/// selected tensor stands below itself.
class PlanCanvas : public QWidget {
  Q_OBJECT
 public:
  explicit PlanCanvas(QWidget* parent);

  struct Side {
    std::shared_ptr<const PlanMap> map;  // shared with the view and background work; null: message alone
    QString title, message;
    bool shown = false;
  };
  /// Zoom and rows start anew where the upper map is another one.
  void setSides(Side upper, Side lower, const QString& dtype);
  [[nodiscard]] const Side& side(std::size_t which) const { return sides_[which]; }
  void setPalette(const Palette& palette);
  void setUnit(PlanUnit unit);
  [[nodiscard]] PlanUnit unit() const { return unit_; }
  /// Highlights in both maps; brings it into view. Empty: none.
  void selectTensor(const std::string& name);
  [[nodiscard]] const std::string& selected() const { return selected_; }

  void zoom(double factor, double x);  // x: pixels from the rows' left end; negative: the middle
  void pan(double share);              // of the width
  void scrollRows(int rows);
  /// As many rows as fit, down to 2 pixels each, or rows that have room for names.
  void setDenseRows(bool dense);
  [[nodiscard]] bool denseRows() const { return dense_; }
  void fit();
  /// The selected tensor's part in the first row that has one, over the whole width.
  void fitSelected();
  [[nodiscard]] double viewBegin() const { return begin_; }
  [[nodiscard]] double viewEnd() const { return end_; }
  [[nodiscard]] int firstRow() const { return firstRow_[0]; }

  void draw(QPainter& painter, const QRectF& area);
  [[nodiscard]] const PlanPainter& painter() const { return painter_; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {400, 160}; }

 signals:
  void tensorPicked(std::size_t side, qint64 tensor);  // -1: padding

 protected:
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] QRectF areaOf(std::size_t side, const QRectF& whole) const;
  [[nodiscard]] PlanPicture picture(std::size_t side, const QRectF& area) const;
  [[nodiscard]] std::optional<std::size_t> sideAt(const QPointF& position) const;
  [[nodiscard]] double longest() const;
  void clampView();
  void showRowOf(std::size_t side, std::int64_t tensor);
  void align();

  std::array<Side, 2> sides_;
  const Palette* palette_;
  PlanPainter painter_;
  PlanUnit unit_ = PlanUnit::elements;
  QString dtype_;
  std::string selected_;
  double begin_ = 0, end_ = 1;  // elements, of the upper map
  double shift_ = 0;            // of the lower map: its element below the upper one's element 0
  std::array<int, 2> firstRow_{};
  QPointF pressed_;
  bool pressing_ = false, dragging_ = false, dense_ = false;
  double pressedBegin_ = 0;
  std::array<int, 2> pressedRow_{};
};

}  // namespace vsim::gui
