#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "gui/paint/memory_plot.h"
#include "gui/session/session.h"

namespace vsim::gui {

/// Memory over time: draws the plot, turns mouse and wheel into the session's zoom and limit. The pointer's
/// line is the plot's own: other pages have no work with a pointer that moves.
class MemoryPlotWidget : public QWidget {
  Q_OBJECT
 public:
  using Data = std::shared_ptr<const MemoryData>;  // shared with background jobs

  MemoryPlotWidget(Session& session, QWidget* parent);

  void setData(Data data);
  void setInstant(std::int64_t event);
  void setWholeBoard(bool whole);
  [[nodiscard]] bool wholeBoard() const { return wholeBoard_; }
  /// The axis counts events instead of time; then it has a zoom of its own. The default where all events are
  /// in the first half of the run, as the host issues them ahead of the device.
  void setByEvent(bool byEvent);
  [[nodiscard]] bool byEvent() const { return byEvent_; }
  [[nodiscard]] static bool prefersEvents(const MemoryData& data);
  /// What is visible, as time.
  [[nodiscard]] TimeRange visibleTime() const;
  /// The event in the middle; again: everything.
  void centreOn(std::int64_t event);
  /// The zoom of the session, or everything; of events: the plot's own.
  [[nodiscard]] TimeRange view() const;
  void zoomBy(double factor);
  void panBy(double share);
  void fit();

  /// As shown, for export too.
  [[nodiscard]] MemoryPlotState state() const;

 signals:
  void instantPicked(qint64 event);
  void hovered(const QString& text);  // empty: nothing under the pointer

 protected:
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  enum class Drag : std::uint8_t { none, pressed, pan, limit };
  [[nodiscard]] MemoryPlotGeometry geometry() const;
  void hover(const QPoint& at);
  void setPointer(std::optional<core::Picoseconds> time);
  [[nodiscard]] TimeRange whole() const;
  void zoomTo(TimeRange view);

  Session& session_;
  Data data_;
  MemoryPlotPainter painter_;
  std::int64_t instant_ = -1;
  bool wholeBoard_ = false, byEvent_ = false;
  TimeRange events_;  // in view, thousandths
  std::optional<core::Picoseconds> pointer_;
  Drag drag_ = Drag::none;
  QPoint pressed_, last_;
};

}  // namespace vsim::gui
