#pragma once

#include <QImage>
#include <QTimer>
#include <QWidget>
#include <memory>
#include <optional>
#include <set>

#include "gui/paint/timeline_frame.h"
#include "gui/paint/timeline_lanes.h"
#include "gui/session/session.h"

namespace vsim::gui {

class TimelineOverlay;

/// Tree, ruler and lanes in one widget: draws and turns the mouse into changes of the session. While the axis
/// moves, rows are drawn from the coarse level; when it rests they are drawn again, exactly, in place.
class TimelineCanvas : public QWidget {
  Q_OBJECT
 public:
  /// Time and rows that the user marked.
  struct Area {
    TimeRange range;
    std::size_t first = 0, last = 0;  // rows [first, last)
  };
  /// What is laid over the lanes.
  struct Extras {
    std::vector<TimeMark> marks;
    std::vector<FlowArrow> arrows;
    std::size_t arrowsInAll = 0;
    std::shared_ptr<const StepPath> path;       // shared with the panel that lists it
    std::shared_ptr<const SliceSearch> search;  // shared with the job that made it, as `hits`
    std::shared_ptr<const SearchHits> hits;
    bool exposedOnly = false, predicted = true;
    TimeUnit unit = TimeUnit::automatic;
  };

  TimelineCanvas(Session& session, QWidget* parent);

  using Scene = std::shared_ptr<const TimelineScene>;  // shared with background jobs
  /// Null: nothing to show; `message` says why.
  void setScene(Scene scene, const QString& message);
  /// The same tracks with their slices in place of the coarse scene that is shown; what the user did stays.
  void refineScene(Scene scene);
  [[nodiscard]] const Scene& scene() const { return scene_; }
  [[nodiscard]] const std::vector<TimelineRow>& rows() const { return rows_; }
  [[nodiscard]] const Extras& extras() const { return extras_; }
  void setExtras(Extras extras);
  [[nodiscard]] const std::optional<Area>& area() const { return area_; }
  void setArea(std::optional<Area> area);
  /// The lanes in the area's rows.
  [[nodiscard]] std::vector<std::size_t> areaLanes() const;

  [[nodiscard]] TimelineFrame frame(QSize size, double scale) const;
  [[nodiscard]] bool moving() const { return moving_; }
  [[nodiscard]] const RowCounts& counts() const { return lanes_->counts(); }
  /// How often names, hits, path, tree and ruler were drawn: not for a pointer that moves.
  [[nodiscard]] int basesDrawn() const { return basesDrawn_; }

  /// Around the pointer when it is over the lanes, else around the middle.
  void zoomBy(double factor);
  void panBy(double shareOfWidth);
  void fit(TimeRange range);
  /// Opens its class and scrolls, and pans where the slice is out of view.
  void reveal(SliceRef slice);
  void setClosed(std::size_t rankClass, bool closed);
  [[nodiscard]] bool isClosed(std::size_t rankClass) const { return closed_.contains(rankClass); }
  [[nodiscard]] SliceRef selected() const;
  /// The slice as other pages understand it; none for an invalid one.
  [[nodiscard]] Selection selectionOf(SliceRef slice) const;
  /// The slice under a point; within 3 pixels of a narrow one.
  [[nodiscard]] SliceRef sliceAt(QPointF position) const;
  [[nodiscard]] int scroll() const { return scroll_; }
  void setScroll(int scroll);
  [[nodiscard]] int contentHeight() const;
  [[nodiscard]] int lanesTop() const { return margins_.ruler + margins_.heat; }
  [[nodiscard]] const TimelineMargins& margins() const { return margins_; }

 signals:
  void areaChanged();
  void hoverChanged(const QString& text);
  void layoutChanged();  // rows, height, scroll

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  enum class Drag : std::uint8_t { none, pressed, pan, area };

  [[nodiscard]] TimeAxis axis(int width) const;
  [[nodiscard]] TimeAxis axis() const { return axis(std::max(1, width() - margins_.tree)); }
  [[nodiscard]] TimeRange whole() const;
  [[nodiscard]] std::size_t rowAt(double y) const;
  [[nodiscard]] RowHeights heights() const;
  void layOut();
  void redraw();
  void move();
  void rest();
  void drawRows();
  void drawBase(QPainter& painter, TimelineOverlay& overlay);
  void dragArea(QPointF position);
  void click(QPointF position);
  void hover(QPointF position);

  Session& session_;
  Scene scene_;
  QString message_;
  std::vector<TimelineRow> rows_;
  std::set<std::size_t> closed_;
  TimelineMargins margins_;
  Extras extras_;
  std::optional<Area> area_;
  static constexpr std::size_t kNoRow = static_cast<std::size_t>(-1);
  SliceRef hovered_;
  std::size_t hoveredTitle_ = kNoRow;
  int scroll_ = 0, basesDrawn_ = 0;
  bool moving_ = false, dirty_ = true, baseDirty_ = true;
  QImage lanesImage_, heatImage_;
  QImage base_;  // all that stays while the pointer moves; made when the axis rests
  std::unique_ptr<TimelineLanes> lanes_;
  QTimer rest_;
  Drag drag_ = Drag::none;
  QPointF pressedAt_, lastAt_;
  Qt::KeyboardModifiers pressedWith_;
  Qt::MouseButton button_ = Qt::NoButton;
  int pressedScroll_ = 0;
};

}  // namespace vsim::gui
