#include "gui/view/timeline/timeline_canvas.h"

#include <QEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "gui/model/slice_details.h"
#include "gui/paint/timeline_overlay.h"

namespace vsim::gui {
namespace {

constexpr int kRestMs = 120;             // without movement before rows are drawn exactly
constexpr int kHeatPixels = 36;          // of the strip, with several classes
constexpr std::size_t kOpenClasses = 4;  // more classes than these start closed

}  // namespace

TimelineCanvas::TimelineCanvas(Session& session, QWidget* parent)
    : QWidget(parent), session_(session), lanes_(std::make_unique<TimelineLanes>(session.theme())) {
  setAccessibleName("timeline");
  setAccessibleDescription("Slices of every stream over time. W and S zoom, A and D move.");
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setMinimumSize(320, 160);
  rest_.setSingleShot(true);
  rest_.setInterval(kRestMs);
  connect(&rest_, &QTimer::timeout, this, &TimelineCanvas::rest);
  connect(&session, &Session::zoomChanged, this, &TimelineCanvas::move);
  connect(&session, &Session::selectionChanged, this, qOverload<>(&QWidget::update));
  connect(&session, &Session::limitChanged, this, qOverload<>(&QWidget::update));
  connect(&session, &Session::cursorChanged, this, qOverload<>(&QWidget::update));
  connect(&session, &Session::themeChanged, this, [this] {
    lanes_ = std::make_unique<TimelineLanes>(session_.theme());
    redraw();
  });
}

void TimelineCanvas::setScene(Scene scene, const QString& message) {
  scene_ = std::move(scene);
  message_ = message;
  closed_.clear();
  area_.reset();
  const TimeUnit unit = extras_.unit;
  extras_ = {};
  extras_.unit = unit;
  hovered_ = {};
  scroll_ = 0;
  if (scene_) {
    const std::size_t classes = scene_->classes().size();
    for (std::size_t c = 1; classes > kOpenClasses && c < classes; ++c) closed_.insert(c);
    margins_.heat = classes > 1 ? kHeatPixels : 0;
  }
  layOut();
  emit areaChanged();
}

void TimelineCanvas::refineScene(Scene scene) {
  VSIM_CHECK(scene_ && scene_->coarse() && scene, "slices refine what is shown without them");
  // What was stored may be of another version's idea of tracks.
  const bool same = scene_->data().tracks.size() == scene->data().tracks.size() &&
                    scene_->lanes().size() == scene->lanes().size() &&
                    scene_->classes().size() == scene->classes().size();
  if (!same) return setScene(std::move(scene), {});
  scene_ = std::move(scene);
  layOut();
  emit areaChanged();
}

/// Few streams are drawn taller, so that the window is not empty below them.
RowHeights TimelineCanvas::heights() const {
  RowHeights heights;
  std::size_t streams = 0, classes = 0;
  for (std::size_t c = 0; c < scene_->classes().size(); ++c, ++classes)
    if (!closed_.contains(c)) streams += scene_->classes()[c].lanes.size();
  constexpr int kTallest = 80;
  const int rest =
      height() - lanesTop() - static_cast<int>(classes) * (heights.rankClass + heights.exposed + heights.gap);
  if (streams > 0)
    heights.stream =
        std::clamp(rest / static_cast<int>(std::min<std::size_t>(streams, 1000)), heights.stream, kTallest);
  return heights;
}

void TimelineCanvas::layOut() {
  rows_.clear();
  if (scene_) rows_ = layoutRows(scene_->data(), scene_->classes(), closed_, heights());
  setScroll(scroll_);
  redraw();
  emit layoutChanged();
}

void TimelineCanvas::redraw() {
  dirty_ = baseDirty_ = true;
  update();
}

void TimelineCanvas::move() {
  moving_ = true;
  rest_.start();
  redraw();
}

void TimelineCanvas::rest() {
  moving_ = false;
  redraw();
}

void TimelineCanvas::setExtras(Extras extras) {
  extras_ = std::move(extras);
  baseDirty_ = true;
  update();
}

void TimelineCanvas::setArea(std::optional<Area> area) {
  area_ = area;
  update();
  emit areaChanged();
}

std::vector<std::size_t> TimelineCanvas::areaLanes() const {
  std::vector<std::size_t> lanes;
  if (!area_ || !scene_) return lanes;
  for (std::size_t r = area_->first; r < std::min(area_->last, rows_.size()); ++r) {
    const TimelineRow& row = rows_[r];
    if (row.lane >= 0) lanes.push_back(static_cast<std::size_t>(row.lane));
    // The row of a closed class stands for all that is folded into it.
    if (row.kind == TimelineRow::Kind::rankClass && closed_.contains(row.rankClass)) {
      const auto& folded = scene_->classes()[row.rankClass].lanes;
      lanes.insert(lanes.end(), folded.begin(), folded.end());
    }
  }
  return lanes;
}

TimeRange TimelineCanvas::whole() const { return scene_ ? scene_->data().whole : TimeRange{}; }

TimeAxis TimelineCanvas::axis(int width) const {
  TimeRange view = session_.zoom();
  if (view.empty()) view = whole();
  if (view.empty()) view = {0, kShortestView};
  return {view, width};
}

TimelineFrame TimelineCanvas::frame(QSize size, double scale) const {
  TimelineFrame frame;
  frame.scene = scene_.get();
  frame.rows = &rows_;
  frame.margins = margins_;
  frame.axis = axis(std::max(1, static_cast<int>(std::lround((size.width() - margins_.tree) * scale))));
  frame.scroll = scroll_;
  frame.moving = moving_;
  frame.unit = extras_.unit;
  frame.closed.assign(closed_.begin(), closed_.end());
  frame.selected = selected();
  frame.hovered = hovered_;
  if (area_) {
    frame.area = area_->range;
    frame.areaFirst = area_->first;
    frame.areaLast = std::min(area_->last, rows_.size());
  }
  frame.limit = session_.limit();
  frame.cursor = session_.cursor();
  frame.marks = extras_.marks;
  frame.arrows = extras_.arrows;
  frame.arrowsInAll = extras_.arrowsInAll;
  frame.path = extras_.path.get();
  frame.hits = extras_.hits.get();
  frame.exposedOnly = extras_.exposedOnly;
  frame.predicted = scene_ && extras_.predicted ? scene_->predicted() : nullptr;
  frame.theme = session_.theme();
  return frame;
}

void TimelineCanvas::drawRows() {
  const double scale = devicePixelRatioF();
  const TimelineFrame shown = frame(size(), scale);
  const auto pixels = [scale](int logical) {
    return std::max(1, static_cast<int>(std::lround(logical * scale)));
  };
  const QSize lanes(shown.axis.width, pixels(height() - lanesTop()));
  if (lanesImage_.size() != lanes) lanesImage_ = QImage(lanes, QImage::Format_RGB32);
  lanesImage_.setDevicePixelRatio(1);
  lanes_->draw(shown, lanesImage_, scale);
  lanesImage_.setDevicePixelRatio(scale);
  if (margins_.heat > 0) {
    const QSize heat(shown.axis.width, pixels(margins_.heat));
    if (heatImage_.size() != heat) heatImage_ = QImage(heat, QImage::Format_RGB32);
    heatImage_.setDevicePixelRatio(1);
    lanes_->drawHeat(shown, heatImage_);
    heatImage_.setDevicePixelRatio(scale);
  }
  dirty_ = false;
}

void TimelineCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Palette& palette = paletteOf(session_.theme());
  if (!scene_ || rows_.empty()) {
    painter.fillRect(rect(), palette.background);
    painter.setPen(palette.mutedText);
    painter.drawText(rect().adjusted(40, 40, -40, -40), Qt::AlignCenter | Qt::TextWordWrap, message_);
    return;
  }
  if (dirty_) drawRows();
  const double scale = devicePixelRatioF();
  const TimelineFrame shown = frame(size(), scale);
  TimelineOverlay overlay(shown, size(), scale);
  if (moving_) {  // the next frame is another one: nothing to be kept
    drawBase(painter, overlay);
    baseDirty_ = true;
  } else {
    const QSize pixels = (QSizeF(size()) * scale).toSize();
    if (baseDirty_ || base_.size() != pixels) {
      if (base_.size() != pixels) base_ = QImage(pixels, QImage::Format_RGB32);
      base_.setDevicePixelRatio(scale);
      QPainter kept(&base_);
      kept.setFont(font());
      drawBase(kept, overlay);
      baseDirty_ = false;
    }
    painter.drawImage(0, 0, base_);
  }
  overlay.drawLive(painter);
}

void TimelineCanvas::drawBase(QPainter& painter, TimelineOverlay& overlay) {
  ++basesDrawn_;
  painter.drawImage(margins_.tree, lanesTop(), lanesImage_);
  if (margins_.heat > 0) painter.drawImage(margins_.tree, margins_.ruler, heatImage_);
  overlay.drawBase(painter);
}

void TimelineCanvas::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) redraw();
  QWidget::changeEvent(event);
}

void TimelineCanvas::resizeEvent(QResizeEvent*) { layOut(); }

int TimelineCanvas::contentHeight() const {
  return rows_.empty() ? 0 : rows_.back().top + rows_.back().height + 8;
}

void TimelineCanvas::setScroll(int scroll) {
  const int most = std::max(0, contentHeight() - (height() - lanesTop()));
  scroll = std::clamp(scroll, 0, most);
  if (scroll == scroll_) return;
  scroll_ = scroll;
  redraw();
  emit layoutChanged();
}

void TimelineCanvas::zoomBy(double factor) {
  if (!scene_) return;
  const TimeAxis now = axis();
  const QPoint pointer = mapFromGlobal(QCursor::pos());
  const bool inside = underMouse() && pointer.x() >= margins_.tree && rect().contains(pointer);
  session_.setZoom(zoomed(now, inside ? pointer.x() - margins_.tree : now.width / 2.0, factor, whole()));
}

void TimelineCanvas::panBy(double share) {
  if (scene_) session_.setZoom(panned(axis(), share * axis().width, whole()));
}

void TimelineCanvas::fit(TimeRange range) {
  if (!scene_ || range.empty()) return;
  const core::Picoseconds margin = range.length() / 50;
  TimeRange wide{range.begin - margin, range.end + margin};
  if (wide.length() < kShortestView) wide.end = wide.begin + kShortestView;
  session_.setZoom(wide);
}

void TimelineCanvas::reveal(SliceRef slice) {
  if (!scene_ || !slice.valid()) return;
  setClosed(scene_->classOf(slice.lane), false);
  for (const TimelineRow& row : rows_) {
    if (row.lane != slice.lane) continue;
    const int room = height() - lanesTop();
    if (row.top < scroll_) setScroll(row.top);
    if (row.top + row.height > scroll_ + room) setScroll(row.top + row.height - room);
  }
  const LaneColumns& lane = scene_->data().lanes[static_cast<std::size_t>(slice.lane)];
  const auto i = static_cast<std::size_t>(slice.slice);
  const TimeRange view = axis().view;
  if (lane.end[i] > view.begin && lane.begin[i] < view.end) return;
  const core::Picoseconds middle = (lane.begin[i] + lane.end[i]) / 2;
  session_.setZoom({middle - view.length() / 2, middle - view.length() / 2 + view.length()});
}

void TimelineCanvas::setClosed(std::size_t rankClass, bool closed) {
  if (closed_.contains(rankClass) == closed) return;
  if (closed)
    closed_.insert(rankClass);
  else
    closed_.erase(rankClass);
  if (area_) setArea(std::nullopt);  // its rows are others now
  layOut();
}

SliceRef TimelineCanvas::selected() const {
  const Selection& selection = session_.selection();
  if (!scene_ || selection.kind != Selection::Kind::slice || selection.report != session_.report()) return {};
  if (selection.lane < 0 || static_cast<std::size_t>(selection.lane) >= scene_->lanes().size()) return {};
  const auto size =
      static_cast<std::int64_t>(scene_->data().lanes[static_cast<std::size_t>(selection.lane)].size());
  if (selection.item < 0 || selection.item >= size) return {};
  return {selection.lane, selection.item};
}

Selection TimelineCanvas::selectionOf(SliceRef slice) const {
  if (!scene_ || !slice.valid()) return {};
  const auto& lane = scene_->data().lanes[static_cast<std::size_t>(slice.lane)];
  return {.kind = Selection::Kind::slice,
          .report = session_.report(),
          .lane = slice.lane,
          .item = slice.slice,
          .detail = scene_->data().log ? lane.source[static_cast<std::size_t>(slice.slice)] : -1};
}

std::size_t TimelineCanvas::rowAt(double y) const {
  const int at = static_cast<int>(y) - lanesTop() + scroll_;
  return visibleRows(rows_, at, 1).first;
}

SliceRef TimelineCanvas::sliceAt(QPointF position) const {
  if (!scene_ || position.x() < margins_.tree || position.y() < lanesTop()) return {};
  const std::size_t r = rowAt(position.y());
  if (r >= rows_.size() || rows_[r].lane < 0) return {};
  if (position.y() < lanesTop() + rows_[r].top - scroll_) return {};  // the gap above the row
  constexpr int kSlackPixels = 3;
  const TimeAxis now = axis();
  const auto slack = kSlackPixels * now.view.length() / now.width;
  const auto found = scene_->lanes()[static_cast<std::size_t>(rows_[r].lane)].sliceAt(
      now.toTime(position.x() - margins_.tree), slack);
  return found ? SliceRef{rows_[r].lane, static_cast<std::int64_t>(*found)} : SliceRef{};
}

}  // namespace vsim::gui
