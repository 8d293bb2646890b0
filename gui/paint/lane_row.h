#pragma once

#include <QImage>
#include <vector>

#include "gui/model/lane_index.h"
#include "gui/paint/palette.h"

namespace vsim::gui {

/// How rows of slices were drawn since the counter was made: a wrong path shows here before it shows as
/// slowness.
struct RowCounts {
  std::size_t grid = 0, exact = 0, rectangles = 0;
};

/// Draws lanes into an image, one row of pixels computed per lane and copied over its height.
///
/// A pixel's colour is the mix of its classes' colours, weighted by the time they cover, over the background:
/// dense parts look as busy as they are. A pixel that any slice touches shows at least kLeastOpacity of it,
/// so that a lone short slice does not fade away. Not thread-safe: keeps its row buffers.
class LaneRowPainter {
 public:
  explicit LaneRowPainter(const Palette& palette);

  static constexpr double kLeastOpacity = 0.2;
  /// Below so many slices per pixel a lane is drawn slice by slice.
  static constexpr double kFewSlices = 1.0 / 8.0;

  /// Rows [top, top + height) of columns [left, left + axis.width). `allowGrid`: while moving.
  void draw(const LaneIndex& lane, const TimeAxis& axis, bool allowGrid, QImage& image, int left, int top,
            int height);

  /// Whether the lane has so few slices in the view that they are to be drawn as rectangles with names.
  [[nodiscard]] static bool showsSlices(const LaneIndex& lane, const TimeAxis& axis);
  [[nodiscard]] const RowCounts& counts() const { return counts_; }

 private:
  void drawSlices(const LaneIndex& lane, const TimeAxis& axis);
  void mix(const LaneIndex& lane);

  using Colour [[gnu::vector_size(16)]] = float;  // red, green, blue, 1: the last sums up what is covered
  std::array<Colour, kSliceClasses> colours_{};
  std::array<QRgb, kSliceClasses> solid_{};
  Colour background_{};
  QRgb backgroundRgb_ = 0;
  std::vector<ClassShares> columns_;
  std::vector<QRgb> row_;
  RowCounts counts_;
};

}  // namespace vsim::gui
