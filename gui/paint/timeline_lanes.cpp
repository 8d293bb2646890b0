#include "gui/paint/timeline_lanes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace vsim::gui {
namespace {

/// Pixels of slack above and below the slices of a row.
constexpr int kInset = 3;

QRgb mixed(QRgb a, QRgb b, float share) {
  const auto channel = [share](int x, int y) {
    return static_cast<int>(static_cast<float>(x) + share * static_cast<float>(y - x) + 0.5F);
  };
  return qRgb(channel(qRed(a), qRed(b)), channel(qGreen(a), qGreen(b)), channel(qBlue(a), qBlue(b)));
}

/// Red hatching: state by texture, not by colour alone.
void hatch(QImage& image, int top, int height, const std::vector<float>& shares, QRgb colour) {
  constexpr int kPeriod = 4;
  const int last = std::min(image.height(), top + height),
            width = std::min(image.width(), static_cast<int>(shares.size()));
  for (int y = std::max(0, top); y < last; ++y) {
    auto* row = reinterpret_cast<QRgb*>(image.scanLine(y));
    for (int x = (kPeriod - (y % kPeriod)) % kPeriod; x < width; x += kPeriod) {
      const float share = std::min(1.0F, shares[static_cast<std::size_t>(x)]);
      if (share <= 0.001F) continue;
      row[x] = mixed(row[x], colour, std::max(0.5F, share));
    }
  }
}

}  // namespace

QRgb heatColour(const Palette& palette, float share) {
  // The root shows small shares, too: 4 % is a fifth of full colour.
  return mixed(palette.background.rgb(), palette.exposed.rgb(), std::sqrt(std::clamp(share, 0.0F, 1.0F)));
}

TimelineLanes::TimelineLanes(Theme theme) : palette_(paletteOf(theme)), rows_(palette_) {
  for (std::size_t i = 0; i < heat_.size(); ++i)
    heat_[i] = heatColour(palette_, static_cast<float>(i) / static_cast<float>(heat_.size() - 1));
}

void TimelineLanes::heatRow(std::size_t rankClass, const TimelineFrame& frame, int step, QRgb* row) {
  const int width = std::max(1, (frame.axis.width + step - 1) / step);
  totals_.resize(static_cast<std::size_t>(width));
  frame.scene->exposed()[rankClass].shares({frame.axis.view, width}, frame.moving, totals_);
  for (int x = 0, at = 0; x < frame.axis.width; x += step, ++at) {
    const float share = std::clamp(totals_[static_cast<std::size_t>(at)], 0.0F, 1.0F);
    const QRgb colour = heat_[static_cast<std::size_t>(share * static_cast<float>(heat_.size() - 1) + 0.5F)];
    for (int i = x; i < std::min(x + step, frame.axis.width); ++i) row[i] = colour;
  }
}

void TimelineLanes::drawHeat(const TimelineFrame& frame, QImage& image) {
  const auto& tracks = frame.scene->exposed();
  image.fill(palette_.background);
  if (tracks.empty() || image.width() < frame.axis.width) return;
  const auto classes = static_cast<int>(tracks.size());
  constexpr int kMany = 128;
  const int step = !frame.moving ? 1 : classes > kMany ? 4 : 2;
  for (int y = 0, shown = -1; y < image.height(); ++y) {
    const int row = static_cast<int>(static_cast<std::int64_t>(y) * classes / image.height());
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
    if (row != shown)
      heatRow(static_cast<std::size_t>(row), frame, step, line);
    else
      std::memcpy(line, image.constScanLine(y - 1), static_cast<std::size_t>(image.width()) * sizeof(QRgb));
    shown = row;
  }
}

void TimelineLanes::draw(const TimelineFrame& frame, QImage& image, double scale) {
  image.fill(palette_.background);
  const TimelineScene& scene = *frame.scene;
  const auto pixels = [scale](int logical) { return static_cast<int>(std::lround(logical * scale)); };
  const auto [first, last] =
      visibleRows(*frame.rows, frame.scroll, static_cast<int>(image.height() / scale) + 1);
  for (std::size_t r = first; r < last; ++r) {
    const TimelineRow& row = (*frame.rows)[r];
    const int top = pixels(row.top - frame.scroll), height = pixels(row.height);
    const int inset = pixels(kInset);
    if (row.kind == TimelineRow::Kind::stream) {
      rows_.draw(scene.lanes()[static_cast<std::size_t>(row.lane)], frame.axis, frame.moving, image, 0,
                 top + inset, height - 2 * inset);
      continue;
    }
    if (row.kind == TimelineRow::Kind::exposed) {
      totals_.resize(static_cast<std::size_t>(frame.axis.width));
      scene.exposed()[row.rankClass].shares(frame.axis, frame.moving, totals_);
      hatch(image, top + inset, height - 2 * inset, totals_, palette_.exposed.rgb());
    } else if (top + height > 0 && top < image.height()) {
      // The class's own row: its exposed communication as heat, readable when it is closed.
      const int y = std::clamp(top + height - inset - pixels(8), 0, image.height() - 1);
      auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
      heatRow(row.rankClass, frame, frame.moving ? 2 : 1, line);
      for (int below = y + 1; below < std::min(image.height(), top + height - inset); ++below)
        std::memcpy(image.scanLine(below), line, static_cast<std::size_t>(image.width()) * sizeof(QRgb));
    }
  }
}

}  // namespace vsim::gui
