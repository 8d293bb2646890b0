#include "gui/paint/lane_row.h"

#include <algorithm>
#include <cstring>

namespace vsim::gui {
namespace {

using Colour [[gnu::vector_size(16)]] = float;

Colour channels(const QColor& colour) {
  return Colour{static_cast<float>(colour.red()), static_cast<float>(colour.green()),
                static_cast<float>(colour.blue()), 1};
}

}  // namespace

LaneRowPainter::LaneRowPainter(const Palette& palette)
    : background_(channels(palette.background)), backgroundRgb_(palette.background.rgb()) {
  for (std::size_t c = 0; c < kSliceClasses; ++c) {
    const QColor colour = palette.slice(static_cast<SliceClass>(c));
    colours_[c] = channels(colour);
    solid_[c] = colour.rgb();
  }
}

bool LaneRowPainter::showsSlices(const LaneIndex& lane, const TimeAxis& axis) {
  return !lane.coarse() && static_cast<double>(lane.slicesIn(axis.view).count()) < kFewSlices * axis.width;
}

void LaneRowPainter::draw(const LaneIndex& lane, const TimeAxis& axis, bool allowGrid, QImage& image,
                          int left, int top, int height) {
  const int width = std::min(axis.width, image.width() - left);
  const int last = std::min(image.height(), top + height);
  if (width <= 0 || left < 0) return;
  row_.assign(static_cast<std::size_t>(axis.width), backgroundRgb_);
  if (showsSlices(lane, axis)) {
    ++counts_.rectangles;
    drawSlices(lane, axis);
  } else {
    columns_.resize(static_cast<std::size_t>(axis.width));
    const auto level = lane.shares(axis, allowGrid, columns_);
    ++(level == LaneIndex::Level::grid ? counts_.grid : counts_.exact);
    mix(lane);
  }
  for (int y = std::max(0, top); y < last; ++y)
    std::memcpy(image.scanLine(y) + static_cast<std::size_t>(left) * sizeof(QRgb), row_.data(),
                static_cast<std::size_t>(width) * sizeof(QRgb));
}

void LaneRowPainter::drawSlices(const LaneIndex& lane, const TimeAxis& axis) {
  const LaneColumns& columns = lane.lane();
  const LaneIndex::Run run = lane.slicesIn(axis.view);
  for (std::size_t i = run.first; i < run.last; ++i) {
    const int from = std::clamp(static_cast<int>(axis.toX(columns.begin[i])), 0, axis.width - 1);
    const int to = std::clamp(static_cast<int>(axis.toX(columns.end[i])), from + 1, axis.width);
    std::fill(row_.begin() + from, row_.begin() + to, solid_[static_cast<std::size_t>(columns.kind[i])]);
    // Neighbours of one class would look like one slice: a gap of a pixel between those that are wide enough.
    if (to - from > 3) row_[static_cast<std::size_t>(to - 1)] = backgroundRgb_;
  }
}

void LaneRowPainter::mix(const LaneIndex& lane) {
  std::array<Colour, kBusyClasses> colours;
  for (std::size_t c = 0; c < kBusyClasses; ++c)
    colours[c] = colours_[static_cast<std::size_t>(lane.classAt(c))];
  for (std::size_t x = 0; x < columns_.size(); ++x) {
    Colour sum{};
    for (std::size_t c = 0; c < kBusyClasses; ++c) sum += columns_[x].of[c] * colours[c];
    const float covered = sum[3];
    if (covered <= 1e-7F) continue;
    const float opacity = std::clamp(covered, static_cast<float>(kLeastOpacity), 1.0F);
    const Colour mixed = sum * (opacity / covered) + background_ * (1 - opacity) + 0.5F;
    row_[x] = qRgb(static_cast<int>(mixed[0]), static_cast<int>(mixed[1]), static_cast<int>(mixed[2]));
  }
}

}  // namespace vsim::gui
