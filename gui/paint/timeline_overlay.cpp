#include "gui/paint/timeline_overlay.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/model/slice_details.h"
#include "gui/model/track_figures.h"

namespace vsim::gui {
namespace {

constexpr int kInset = 3;
constexpr double kNameWidth = 60;  // narrower slices have no name
constexpr int kStepBand = 16, kLayerBand = 15;

QColor faint(QColor colour, int alpha) {
  colour.setAlpha(alpha);
  return colour;
}

}  // namespace

TimelineOverlay::TimelineOverlay(const TimelineFrame& frame, QSize size, double scale)
    : frame_(frame), size_(size), scale_(scale), palette_(paletteOf(frame.theme)) {
  rowOfLane_.assign(frame.scene->lanes().size(), 0);
  for (std::size_t r = 0; r < frame.rows->size(); ++r)
    if ((*frame.rows)[r].lane >= 0) rowOfLane_[static_cast<std::size_t>((*frame.rows)[r].lane)] = r + 1;
  std::tie(firstRow_, lastRow_) = visibleRows(*frame.rows, frame.scroll, size.height() - lanesTop());
}

QRectF TimelineOverlay::lanesRect() const {
  return {static_cast<double>(frame_.margins.tree), static_cast<double>(lanesTop()),
          static_cast<double>(size_.width() - frame_.margins.tree),
          static_cast<double>(size_.height() - lanesTop())};
}

double TimelineOverlay::x(core::Picoseconds time) const {
  return frame_.margins.tree + frame_.axis.toX(time) / scale_;
}

QRectF TimelineOverlay::sliceRect(SliceRef slice) const {
  if (!slice.valid() || static_cast<std::size_t>(slice.lane) >= rowOfLane_.size()) return {};
  const std::size_t row = rowOfLane_[static_cast<std::size_t>(slice.lane)];
  if (row == 0) return {};
  const TimelineRow& where = (*frame_.rows)[row - 1];
  const LaneColumns& lane = frame_.scene->data().lanes[static_cast<std::size_t>(slice.lane)];
  const auto i = static_cast<std::size_t>(slice.slice);
  if (i >= lane.size()) return {};
  const double left = x(lane.begin[i]), right = std::max(left + 1, x(lane.end[i]));
  return {left, static_cast<double>(lanesTop() + where.top - frame_.scroll + kInset), right - left,
          static_cast<double>(where.height - 2 * kInset)};
}

void TimelineOverlay::drawBase(QPainter& painter) {
  painter.setClipRect(lanesRect());
  drawSteps(painter);
  if (!frame_.moving) drawNames(painter);
  if (frame_.predicted != nullptr) drawPredicted(painter);
  drawSearch(painter);
  if (frame_.exposedOnly) drawExposedOnly(painter);
  if (frame_.path != nullptr) drawPath(painter);
  painter.setClipping(false);
  drawTree(painter);
  drawRuler(painter);
}

void TimelineOverlay::drawLive(QPainter& painter) {
  painter.setClipRect(lanesRect());
  drawShaded(painter);
  drawArrows(painter);
  drawOutlines(painter);
  painter.setClipping(false);
  drawMarks(painter);
}

void TimelineOverlay::drawTree(QPainter& painter) {
  const int width = frame_.margins.tree, top = lanesTop();
  painter.fillRect(0, 0, width, size_.height(), palette_.panel);
  painter.setClipRect(0, top, width, size_.height() - top);
  const TimelineData& data = frame_.scene->data();
  QFont bold = painter.font();
  bold.setBold(true);
  const QFont plain = painter.font();
  for (std::size_t r = firstRow_; r < lastRow_; ++r) {
    const TimelineRow& row = (*frame_.rows)[r];
    const int y = top + row.top - frame_.scroll;
    const Track& track = data.tracks[row.track];
    const bool header = row.kind == TimelineRow::Kind::rankClass;
    if (header) {
      painter.setPen(palette_.grid);
      painter.drawLine(0, y, size_.width(), y);
    }
    painter.setFont(header ? bold : plain);
    painter.setPen(header                                   ? palette_.text
                   : row.kind == TimelineRow::Kind::exposed ? palette_.exposed
                                                            : palette_.mutedText);
    QString text = QString::fromStdString(track.title);
    if (row.kind == TimelineRow::Kind::exposed) text = "exposed";
    const int left = header ? 22 : 32;
    if (header) {
      const bool closed = std::ranges::find(frame_.closed, row.rankClass) != frame_.closed.end();
      QPainterPath triangle;
      const double mid = y + row.height / 2.0;
      if (closed)
        triangle.addPolygon(QPolygonF({{8, mid - 5}, {15, mid}, {8, mid + 5}}));
      else
        triangle.addPolygon(QPolygonF({{6, mid - 3}, {16, mid - 3}, {11, mid + 4}}));
      painter.fillPath(triangle, palette_.mutedText);
    }
    const QString figure = QString::fromStdString(trackFigure(*frame_.scene, row));
    const int room =
        width - left - 8 - (figure.isEmpty() ? 0 : painter.fontMetrics().horizontalAdvance(figure) + 8);
    painter.drawText(QRect(left, y, room, row.height), Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(text, Qt::ElideRight, room));
    if (!figure.isEmpty())
      painter.drawText(QRect(0, y, width - 8, row.height), Qt::AlignVCenter | Qt::AlignRight, figure);
  }
  painter.setFont(plain);
  painter.setClipping(false);
  painter.setPen(palette_.grid);
  painter.drawLine(width - 1, 0, width - 1, size_.height());
  if (frame_.margins.heat > 0) {
    painter.setPen(palette_.mutedText);
    painter.drawText(QRect(8, frame_.margins.ruler, width - 16, frame_.margins.heat),
                     Qt::AlignVCenter | Qt::AlignLeft, "exposed, by class of ranks");
  }
}

void TimelineOverlay::drawRuler(QPainter& painter) {
  const QRect ruler(frame_.margins.tree, 0, size_.width() - frame_.margins.tree, frame_.margins.ruler);
  painter.fillRect(QRect(0, 0, size_.width(), ruler.height()), palette_.panel);
  painter.setClipRect(ruler);
  const TimeRange step = frame_.scene->lastStep();
  painter.setPen(palette_.mutedText);
  const int least = static_cast<int>((painter.fontMetrics().horizontalAdvance("0000.000 ms") + 24) * scale_);
  for (const TimeTick& tick : timeTicks(frame_.axis, frame_.unit, step, least)) {
    const double at = x(tick.time);
    painter.drawLine(QPointF(at, ruler.bottom() - 5), QPointF(at, ruler.bottom()));
    painter.drawText(QPointF(at + 4, ruler.bottom() - 5), QString::fromStdString(tick.label));
  }
  const auto& steps = frame_.scene->steps();
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const double left = std::max<double>(x(steps[s].begin), ruler.left()),
                 right = std::min<double>(x(steps[s].end), ruler.right());
    if (right - left < 3) continue;
    const QRectF band(left, 1, right - left - 1, kStepBand - 2);
    painter.fillRect(band, faint(palette_.accent, s % 2 == 0 ? 46 : 76));
    if (band.width() > 50) {
      painter.setPen(palette_.text);
      painter.drawText(
          band.adjusted(5, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
          QString("step %1 · %2").arg(s).arg(QString::fromStdString(timeText(steps[s].length()))));
    }
  }
  drawLayers(painter);
  painter.setClipping(false);
  painter.setPen(palette_.grid);
  painter.drawLine(0, ruler.bottom(), size_.width(), ruler.bottom());
  painter.setPen(palette_.mutedText);
  painter.drawText(QRect(8, 0, frame_.margins.tree - 16, ruler.height() - 4), Qt::AlignBottom | Qt::AlignLeft,
                   QString::fromStdString(core::formatCount(frame_.scene->data().slices())) + " slices");
}

/// Which layer the compute stream of the first class works for, below the steps.
void TimelineOverlay::drawLayers(QPainter& painter) {
  constexpr std::size_t kMost = 4000;  // in view: more are no boundaries any more
  const LayerBands& layers = frame_.scene->layers();
  const auto [first, last] = layers.in(frame_.axis.view);
  if (last - first > kMost) return;
  const double left = frame_.margins.tree, right = size_.width();
  for (std::size_t i = first; i < last; ++i) {
    const QRectF band(QPointF(std::max(x(layers.bands[i].range.begin), left), kStepBand),
                      QPointF(std::min(x(layers.bands[i].range.end), right), kStepBand + kLayerBand - 1));
    if (band.width() < 2) continue;
    painter.fillRect(band.adjusted(0, 0, -1, 0), faint(palette_.mutedText, i % 2 == 0 ? 40 : 70));
    const QString name = QString::fromStdString(layers.units[layers.bands[i].unit]);
    if (painter.fontMetrics().horizontalAdvance(name) + 6 > band.width()) continue;
    painter.setPen(palette_.text);
    painter.drawText(band, Qt::AlignCenter, name);
  }
}

void TimelineOverlay::drawSteps(QPainter& painter) {
  painter.setPen(QPen(palette_.mutedText, 1, Qt::DashLine));
  for (const TimeRange& step : frame_.scene->steps()) {
    const double at = x(step.end);
    if (at > frame_.margins.tree && at < size_.width())
      painter.drawLine(QPointF(at, lanesTop()), QPointF(at, size_.height()));
  }
}

void TimelineOverlay::drawNames(QPainter& painter) {
  for (std::size_t r = firstRow_; r < lastRow_; ++r)
    if ((*frame_.rows)[r].kind == TimelineRow::Kind::stream) drawNamesOf(painter, (*frame_.rows)[r]);
}

void TimelineOverlay::drawNamesOf(QPainter& painter, const TimelineRow& row) {
  const LaneIndex& lane = frame_.scene->lanes()[static_cast<std::size_t>(row.lane)];
  const LaneIndex::Run run = lane.slicesIn(frame_.axis.view);
  const LaneColumns& columns = lane.lane();
  // More slices than pixels: a wide one among them is rare, and looking for it is not free.
  if (run.count() > 20'000) return;
  const double perPixel = static_cast<double>(frame_.axis.view.length()) / frame_.axis.width * scale_;
  const auto least = static_cast<core::Picoseconds>(perPixel * kNameWidth);
  for (std::size_t i = run.first; i < run.last; ++i) {
    if (columns.end[i] - columns.begin[i] < least) continue;
    const QRectF slice = sliceRect({row.lane, static_cast<std::int64_t>(i)}) & lanesRect();
    if (slice.width() < kNameWidth) continue;
    const QRectF room = slice.adjusted(4, 0, -4, 0);
    painter.setPen(inkOn(palette_.slice(columns.kind[i])));
    const QString name =
        QString::fromStdString(frame_.scene->data().sliceName(row.lane, static_cast<std::int64_t>(i)));
    painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(name, Qt::ElideRight, static_cast<int>(room.width())));
  }
}

/// Outlines in the lower part of a row, where they can be held against what was measured above them.
void TimelineOverlay::drawPredicted(QPainter& painter) {
  constexpr std::ptrdiff_t kMost = 4000;  // in a row: more are a grey that says nothing
  const TimeRange view = frame_.axis.view;
  painter.setPen(QPen(palette_.text, 1));
  painter.setBrush(faint(palette_.background, 150));
  for (std::size_t r = firstRow_; r < lastRow_; ++r) {
    const TimelineRow& row = (*frame_.rows)[r];
    if (row.kind != TimelineRow::Kind::stream) continue;
    const LaneColumns& lane = frame_.predicted->lanes()[static_cast<std::size_t>(row.lane)];
    const auto first = std::ranges::upper_bound(lane.end, view.begin) - lane.end.begin();
    const auto last = std::ranges::lower_bound(lane.begin, view.end) - lane.begin.begin();
    if (last - first > kMost) continue;
    const double height = row.height / 3.0, top = lanesTop() + row.top - frame_.scroll + row.height - height;
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(std::max(first, last)); ++i) {
      const double left = std::max(x(lane.begin[i]), lanesRect().left() - 2),
                   right = std::min(x(lane.end[i]), lanesRect().right() + 2);
      if (right - left > 2) painter.drawRect(QRectF(left, top, right - left - 1, height - 1));
    }
  }
  painter.setBrush(Qt::NoBrush);
}

void TimelineOverlay::drawShaded(QPainter& painter) {
  const QRectF lanes = lanesRect();
  if (frame_.limit) {  // what statistics do not count is dimmed
    const double left = x(frame_.limit->begin), right = x(frame_.limit->end);
    const QColor dim = faint(palette_.background, 150);
    painter.fillRect(QRectF(lanes.left(), lanes.top(), std::max(0.0, left - lanes.left()), lanes.height()),
                     dim);
    painter.fillRect(QRectF(right, lanes.top(), std::max(0.0, lanes.right() - right), lanes.height()), dim);
  }
  if (frame_.area && !frame_.rows->empty() && frame_.areaFirst < frame_.areaLast) {
    const TimelineRow &first = (*frame_.rows)[frame_.areaFirst], &last = (*frame_.rows)[frame_.areaLast - 1];
    const QRectF area(x(frame_.area->begin), lanesTop() + first.top - frame_.scroll,
                      x(frame_.area->end) - x(frame_.area->begin), last.top + last.height - first.top);
    painter.fillRect(area, faint(palette_.accent, 46));
    painter.setPen(palette_.accent);
    painter.drawRect(area);
  }
}

void TimelineOverlay::drawSearch(QPainter& painter) {
  if (frame_.hits == nullptr) return;
  painter.setPen(QPen(palette_.accent, 2));
  for (std::size_t r = firstRow_; r < lastRow_; ++r) {
    const TimelineRow& row = (*frame_.rows)[r];
    if (row.kind != TimelineRow::Kind::stream) continue;
    const auto lane = static_cast<std::size_t>(row.lane);
    const LaneColumns& columns = frame_.scene->data().lanes[lane];
    const double bottom = lanesTop() + row.top - frame_.scroll + row.height - kInset + 1;
    // One line for those that share a pixel: a pixel costs a search among the hits, however many there are.
    core::Picoseconds from = frame_.axis.view.begin;
    for (auto hit = frame_.hits->endingAfter(columns, lane, from); hit && from < frame_.axis.view.end;
         hit = frame_.hits->endingAfter(columns, lane, from)) {
      if (columns.begin[*hit] >= frame_.axis.view.end) break;
      const int first = static_cast<int>(std::max(0.0, frame_.axis.toX(columns.begin[*hit])));
      const int last =
          static_cast<int>(std::min<double>(frame_.axis.width, frame_.axis.toX(columns.end[*hit])));
      const double left = frame_.margins.tree + first / scale_,
                   right = frame_.margins.tree + std::max(first + 1, last) / scale_;
      painter.drawLine(QPointF(left, bottom), QPointF(right, bottom));
      from = std::max(columns.end[*hit], frame_.axis.boundary(std::max(first, last) + 1));
    }
  }
}

void TimelineOverlay::drawExposedOnly(QPainter& painter) {
  // All but the exposed stretches steps back. Pixel by pixel, as there may be millions of stretches.
  const QColor dim = faint(palette_.background, 190);
  std::vector<float> shares(static_cast<std::size_t>(frame_.axis.width));
  float least = 0;
  std::size_t known = frame_.scene->exposed().size();  // class that `shares` are of
  for (std::size_t r = firstRow_; r < lastRow_; ++r) {
    const TimelineRow& row = (*frame_.rows)[r];
    if (row.kind != TimelineRow::Kind::stream) continue;
    const double top = lanesTop() + row.top - frame_.scroll;
    const auto shade = [&](int from, int to) {
      if (to > from)
        painter.fillRect(QRectF(frame_.margins.tree + from / scale_, top, (to - from) / scale_, row.height),
                         dim);
    };
    if (!frame_.scene->data().tracks[row.track].communication) {
      shade(0, frame_.axis.width);
      continue;
    }
    if (known != row.rankClass) {
      known = row.rankClass;
      const auto level = frame_.scene->exposed()[known].shares(frame_.axis, frame_.moving, shares);
      least = level == BusyTrack::Level::curve ? 1e-4F : 0.0F;  // the curve is rounded
    }
    int left = 0;  // of what is not exposed
    for (int at = 0; at < frame_.axis.width; ++at) {
      if (shares[static_cast<std::size_t>(at)] <= least) continue;
      shade(left, at);
      left = at + 1;
    }
    shade(left, frame_.axis.width);
  }
}

void TimelineOverlay::drawPath(QPainter& painter) {
  painter.fillRect(lanesRect(), faint(palette_.background, 165));
  painter.setRenderHint(QPainter::Antialiasing, true);
  const TimelineData& data = frame_.scene->data();
  QPointF last;
  bool connected = false;
  // Pieces follow one another in time. Of those that share a pixel, the first few are enough.
  constexpr int kMostInPixel = 4;
  int pixel = -1, inPixel = 0;
  const auto& segments = frame_.path->segments;
  auto at = std::partition_point(segments.begin(), segments.end(), [&](const PathSegment& segment) {
    return segment.range.end <= frame_.axis.view.begin;
  });
  for (; at != segments.end() && at->range.begin < frame_.axis.view.end; ++at) {
    const PathSegment& segment = *at;
    const double left = x(segment.range.begin), right = std::max(left + 1, x(segment.range.end));
    const int column = static_cast<int>(left);
    inPixel = column == pixel ? inPixel + 1 : 0;
    pixel = column;
    if (inPixel >= kMostInPixel && right - left <= 1) continue;
    double y = connected ? last.y() : lanesTop() + 10;
    if (segment.slice.valid()) {
      const QRectF slice = sliceRect(segment.slice);
      if (slice.isEmpty()) continue;
      y = slice.bottom() - 3;  // below the name
      if (segment.kind != PathKind::wait) {
        const SliceClass kind = data.lanes[static_cast<std::size_t>(segment.slice.lane)]
                                    .kind[static_cast<std::size_t>(segment.slice.slice)];
        const QRectF part(left, slice.top(), right - left, slice.height());
        painter.fillRect(part, palette_.slice(kind));
        if (part.width() > kNameWidth) {
          painter.setPen(inkOn(palette_.slice(kind)));
          const QRectF room = (part & lanesRect()).adjusted(4, 0, -4, 0);
          painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                           painter.fontMetrics().elidedText(QString::fromStdString(data.sliceName(
                                                                segment.slice.lane, segment.slice.slice)),
                                                            Qt::ElideRight, static_cast<int>(room.width())));
        }
      }
    }
    const bool idle = segment.kind == PathKind::wait || segment.kind == PathKind::host;
    painter.setPen(QPen(idle ? palette_.exposed : palette_.critical, 2, idle ? Qt::DotLine : Qt::SolidLine));
    if (connected && std::abs(last.y() - y) > 0.5) painter.drawLine(last, QPointF(left, y));
    painter.drawLine(QPointF(left, y), QPointF(right, y));
    last = {right, y};
    connected = true;
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void TimelineOverlay::drawArrows(QPainter& painter) {
  painter.setRenderHint(QPainter::Antialiasing, true);
  painter.setPen(QPen(palette_.critical, 1.5));
  for (const FlowArrow& arrow : frame_.arrows) {
    const QRectF from = sliceRect(arrow.from), to = sliceRect(arrow.to);
    if (from.isEmpty() || to.isEmpty()) continue;
    if (arrow.together) {
      painter.setPen(QPen(palette_.critical, 1, Qt::DashLine));
      painter.drawLine(QPointF(from.left(), from.center().y()), QPointF(to.left(), to.center().y()));
      painter.setPen(QPen(palette_.critical, 1.5));
      continue;
    }
    const QPointF a(from.right(), from.center().y()), b(to.left(), to.center().y());
    const double bend = std::clamp((b.x() - a.x()) / 2, 12.0, 60.0);
    QPainterPath path(a);
    path.cubicTo(a + QPointF(bend, 0), b - QPointF(bend, 0), b);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
    painter.setBrush(palette_.critical);
    painter.drawPolygon(QPolygonF({b, b + QPointF(-7, -4), b + QPointF(-7, 4)}));
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setBrush(Qt::NoBrush);
  if (frame_.arrowsInAll > frame_.arrows.size()) {
    const QRectF slice = sliceRect(frame_.selected);
    const QString text = QString("%1 more").arg(frame_.arrowsInAll - frame_.arrows.size());
    const QRectF badge(slice.left(), slice.top() - 16, painter.fontMetrics().horizontalAdvance(text) + 10,
                       15);
    painter.fillRect(badge, palette_.accent);
    painter.setPen(inkOn(palette_.accent));
    painter.drawText(badge, Qt::AlignCenter, text);
  }
}

void TimelineOverlay::drawOutlines(QPainter& painter) {
  const QRectF hovered = sliceRect(frame_.hovered), selected = sliceRect(frame_.selected);
  // Cut to the window: a rectangle of millions of pixels has no outline any more.
  const QRectF room = lanesRect().adjusted(-4, -40, 4, 40);
  if (!hovered.isEmpty()) {
    painter.setPen(QPen(palette_.mutedText, 1));
    painter.drawRect((hovered & room).adjusted(0, 0, -1, -1));
  }
  if (!selected.isEmpty() && selected.intersects(room)) {
    painter.setPen(QPen(palette_.background, 4));
    painter.drawRect((selected & room).adjusted(-1, -1, 1, 1));
    painter.setPen(QPen(palette_.critical, 2));
    painter.drawRect((selected & room).adjusted(-1, -1, 1, 1));
  }
}

void TimelineOverlay::drawMarks(QPainter& painter) {
  painter.setClipRect(QRect(frame_.margins.tree, 0, size_.width() - frame_.margins.tree, size_.height()));
  const QColor colour = palette_.series(3);
  const TimeRange step = frame_.scene->lastStep();
  for (std::size_t i = 0; i < frame_.marks.size(); ++i) {
    const TimeRange range = frame_.marks[i].range;
    const double left = x(range.begin);
    painter.setPen(QPen(colour, 1));
    painter.drawLine(QPointF(left, kStepBand), QPointF(left, size_.height()));
    if (!range.empty()) {
      const double right = x(range.end);
      painter.drawLine(QPointF(right, kStepBand), QPointF(right, size_.height()));
      painter.fillRect(QRectF(left, lanesTop(), right - left, size_.height()), faint(colour, 26));
    }
    QString text = QString::number(i + 1);
    if (!range.empty()) text += ": " + QString::fromStdString(lengthText(range.length(), frame_.unit, step));
    const QRectF flag(left, kStepBand, painter.fontMetrics().horizontalAdvance(text) + 8, 14);
    painter.fillRect(flag, colour);
    painter.setPen(inkOn(colour));
    painter.drawText(flag, Qt::AlignCenter, text);
  }
  if (frame_.cursor) {
    painter.setPen(QPen(palette_.accent, 1));
    const double at = x(*frame_.cursor);
    painter.drawLine(QPointF(at, frame_.margins.ruler), QPointF(at, size_.height()));
  }
  painter.setClipping(false);
}

}  // namespace vsim::gui
