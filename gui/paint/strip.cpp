#include <QImage>
#include <algorithm>
#include <cmath>

#include "core/report/timeline.h"
#include "core/report/verdict.h"
#include "gui/model/ticks.h"
#include "gui/paint/compare_page.h"
#include "gui/paint/lane_row.h"

namespace vsim::gui {
namespace {

using Style = Sheet::Style;

const core::RankLog* slowestOf(const core::ExecutionLog& log, const core::RunReport& report) {
  const core::RankLog* found = nullptr;
  for (const core::RankLog& rank : log.ranks)
    if (!rank.stepEnd.empty() && (found == nullptr || rank.name == report.slowestRanks)) found = &rank;
  return found;
}

/// Of a measured side the step that its report is about.
std::size_t stepOf(const ComparedSide& side, const core::RankLog& rank) {
  std::size_t best = rank.stepEnd.size() - 1;
  if (!side.measured) return best;
  const auto distance = [&](std::size_t step) {
    return std::abs(core::secondsFromPicoseconds(core::stepLength(rank, step)) - side.figures().stepSeconds);
  };
  for (std::size_t step = 0; step < rank.stepEnd.size(); ++step)
    if (distance(step) < distance(best)) best = step;
  return best;
}

QString lanesOf(const Track& track) { return QString::fromStdString(track.title); }

void drawRuler(Sheet& sheet, core::Picoseconds scale, const QRectF& area) {
  const Palette& c = sheet.colours();
  // Times count from the begin of the part that is shown.
  const double seconds = core::secondsFromPicoseconds(scale);
  const double unit = seconds >= 2 ? 1 : seconds >= 2e-3 ? 1e-3 : seconds >= 2e-6 ? 1e-6 : 1e-9;
  const QString name = seconds >= 2      ? "s"
                       : seconds >= 2e-3 ? "ms"
                       : seconds >= 2e-6 ? QString(QChar(0xB5)) + "s"
                                         : "ns";
  const Ticks ticks =
      niceTicks(0, seconds / unit, std::max(3, static_cast<int>(area.width() / 90)), AxisScale::linear);
  double free = area.left();
  for (const Tick& tick : ticks.marks) {
    const double x = area.left() + tick.value * unit / seconds * area.width();
    if (x > area.right() + 0.5) break;
    sheet.painter().fillRect(QRectF(std::round(x), area.top(), 1, 4), c.mutedText);
    const QString label = QString::fromStdString(tick.label) + " " + name;
    const double width = sheet.textWidth(label, Style::small) + 4;
    const double left = std::min(x + 3, area.right() - width);
    if (left < free) continue;  // no room beside the one before
    free = left + width + 4;
    sheet.text(QRectF(left, area.top(), width, area.height()), label, c.mutedText, Style::small);
  }
}

}  // namespace

std::shared_ptr<const Strip> stripOf(const ComparedSide& side) {
  auto strip = std::make_shared<Strip>();
  strip->title = QString::fromStdString(side.title);
  strip->loading = side.run->loading;
  const auto log = side.log();
  if (!log || !log->program) return strip;
  const core::RankLog* rank = slowestOf(*log, side.figures());
  if (rank == nullptr) return strip;
  const core::StepTimeline step = core::stepTimeline(*log->program, *rank, stepOf(side, *rank));
  strip->step = {step.begin, step.end};
  // Only the slowest ranks are shown: their log alone is made into lanes.
  auto slowest = std::make_shared<core::ExecutionLog>();
  slowest->executor = log->executor;
  slowest->program = log->program;
  slowest->ranks = {*rank};
  strip->data = timelineOf(slowest);
  for (const Track& track : strip->data->tracks)
    if (track.lane >= 0) {
      const auto lane = static_cast<std::size_t>(track.lane);
      strip->lanes.push_back({lanesOf(track), lane, LaneIndex(strip->data->lanes[lane])});
    }
  std::array<core::Picoseconds, kSliceClasses> busy{};
  for (const Strip::Lane& lane : strip->lanes) {
    const BusyTimes times = lane.index.busyIn(lane.index.span());
    for (std::size_t c = 0; c < kBusyClasses; ++c)
      busy[static_cast<std::size_t>(lane.index.classAt(c))] += times[c];
  }
  for (std::size_t c = 0; c < kSliceClasses; ++c)
    if (busy[c] > 0) strip->classes.push_back(static_cast<SliceClass>(c));
  return strip;
}

void paintStrip(Sheet& sheet, const Strip& strip, const QString& title, TimeRange range,
                core::Picoseconds scale, const QRectF& area) {
  const Palette& c = sheet.colours();
  const double line = sheet.lineHeight(), ruler = sheet.lineHeight(Style::small) + 2;
  sheet.text(QRectF(area.left(), area.top(), area.width(), line), title, c.text, Style::bold);
  if (strip.lanes.empty() || range.empty() || scale <= 0) {
    sheet.text(QRectF(area.left(), area.top() + line, area.width(), line),
               strip.loading ? "The log of this side is being read." : "The log of this side is not stored.",
               c.mutedText);
    return;
  }
  const double left = area.left() + kStripLabels, width = area.width() - kStripLabels;
  const double top = area.top() + line + 3;
  const double height =
      std::clamp((area.bottom() - top - ruler) / static_cast<double>(strip.lanes.size()), 4.0, 26.0);
  // The range may be shorter than the scale: it then fills a part of the width.
  const double used = width * std::min(1.0, static_cast<double>(range.length()) / static_cast<double>(scale));
  // Painted at the resolution of the device, so that pictures of double size are sharp.
  const double ratio =
      std::max(1.0, sheet.painter().device()->devicePixelRatioF() * sheet.painter().transform().m11());
  const int columns = std::max(1, static_cast<int>(std::floor(used * ratio)));
  const int rows = std::max(1, static_cast<int>(std::floor((height - 2) * ratio)));
  LaneRowPainter painter(c);
  double y = top;
  for (const Strip::Lane& lane : strip.lanes) {
    QImage image(columns, rows, QImage::Format_RGB32);
    image.fill(c.background);
    painter.draw(lane.index, TimeAxis{range, columns}, false, image, 0, 0, rows);
    sheet.painter().drawImage(QRectF(left, y, used, height - 2), image);
    if (height >= 10)
      sheet.text(QRectF(area.left(), y, kStripLabels - 8, height - 2), lane.name, c.mutedText, Style::small,
                 Qt::AlignRight | Qt::AlignVCenter);
    y += height;
  }
  sheet.painter().fillRect(QRectF(left, top, 1, y - top), c.grid);
  sheet.painter().fillRect(QRectF(left + used, top, 1, y - top), c.mutedText);
  drawRuler(sheet, scale, QRectF(left, y, width, ruler));
}

}  // namespace vsim::gui
