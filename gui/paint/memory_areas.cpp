#include <algorithm>
#include <array>
#include <cmath>

#include "gui/paint/memory_plot.h"

namespace vsim::gui {
namespace {

// Kinds of pixels: the parts, what is active and what is reserved beyond them, lines, nothing.
enum : std::uint8_t { kWaiting = kMemoryParts, kCached, kNothing, kKinds };

/// What fills one column of pixels: from the bottom, where each kind ends.
struct ColumnStack {
  std::array<std::int16_t, kKinds> top{};  // [kind]: first row above it, counted from the bottom
  std::int16_t least = 0;                  // rows that are filled at every instant of the column
  std::int16_t active = -1, reservedLow = -1, reservedHigh = -1;  // rows of lines
};

constexpr double kFaded = 0.45;  // share of the background where memory comes and goes
constexpr int kHatch = 7;        // pixels between lines of the hatch

}  // namespace

void MemoryPlotPainter::drawAreas(const MemoryData& data, const MemoryPlotGeometry& geometry,
                                  double pixelRatio, QImage& image) {
  const int width = std::max(1, static_cast<int>(geometry.plot.width() * pixelRatio));
  const int height = std::clamp(static_cast<int>(geometry.plot.height() * pixelRatio), 1, 30000);
  if (image.size() != QSize(width, height)) image = QImage(width, height, QImage::Format_RGB32);
  image.setDevicePixelRatio(pixelRatio);
  const TimeAxis axis{geometry.axis.view, width};
  geometry.byEvent ? data.curve.eventColumns(axis, columns_) : data.curve.columns(axis, columns_);
  const auto row = [&](core::Bytes bytes) {
    const double y = std::round(static_cast<double>(bytes) * height / static_cast<double>(geometry.top));
    return static_cast<std::int16_t>(std::clamp(y, 0.0, static_cast<double>(height)));
  };
  std::vector<ColumnStack> stacks(static_cast<std::size_t>(width));
  for (std::size_t x = 0; x < stacks.size(); ++x) {
    const MemoryExtent& column = columns_[x];
    ColumnStack& stack = stacks[x];
    if (column.empty()) continue;
    const MemoryParts parts = data.curve.partsAfter(column.peak);
    core::Bytes sum = 0;
    for (std::size_t p = 0; p < kMemoryParts; ++p)
      stack.top[p] = row(sum += std::max<core::Bytes>(0, parts[p]));
    stack.top[kWaiting] = std::max(stack.top[kMemoryParts - 1], row(column.active.most));
    stack.top[kCached] = std::max(stack.top[kWaiting], row(column.reserved.most));
    stack.least = row(column.allocated.least);
    stack.reservedLow = row(column.reserved.least);
    stack.reservedHigh = row(column.reserved.most);
    if (column.active.most > column.allocated.most) stack.active = row(column.active.most);
  }
  std::array<std::array<QRgb, 2>, kKinds> colours{};  // [kind][comes and goes]
  for (std::size_t p = 0; p < kMemoryParts; ++p) {
    const QColor full = memoryPartColor(*palette_, p);
    colours[p] = {full.rgb(), mixed(full, palette_->background, kFaded).rgb()};
  }
  const QRgb background = palette_->background.rgb();
  const QRgb hatch = mixed(palette_->background, palette_->mutedText, 0.45).rgb(),
             line = palette_->text.rgb();
  std::vector<std::uint8_t> kind(stacks.size(), kNothing);
  for (int y = 0; y < height; ++y) {  // from the top; rows count from the bottom
    const int fromBottom = height - 1 - y;
    auto* pixels = reinterpret_cast<QRgb*>(image.scanLine(y));
    for (std::size_t x = 0; x < stacks.size(); ++x) {
      const ColumnStack& stack = stacks[x];
      std::uint8_t& k = kind[x];
      while (k > 0 && fromBottom < stack.top[k - 1U]) --k;
      const bool onReserved = fromBottom < stack.reservedHigh &&
                              fromBottom >= std::min<int>(stack.reservedLow, stack.reservedHigh - 2);
      if (onReserved || (fromBottom == stack.active - 1 && (x & 4) != 0))
        pixels[x] = line;
      else if (k < kMemoryParts)
        pixels[x] = colours[k][fromBottom >= stack.least ? 1 : 0];
      else if (k == kNothing)
        pixels[x] = background;
      else
        pixels[x] = (static_cast<int>(x) + y) % kHatch == 0 ? hatch : background;
    }
  }
}

}  // namespace vsim::gui
