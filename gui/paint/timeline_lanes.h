#pragma once

#include <QImage>
#include <array>
#include <vector>

#include "gui/paint/lane_row.h"
#include "gui/paint/timeline_frame.h"

namespace vsim::gui {

/// Draws the rows of slices, the dense part of a frame, straight into an image. Not thread-safe: keeps
/// buffers.
class TimelineLanes {
 public:
  explicit TimelineLanes(Theme theme);

  /// `image`: the lanes' area alone, right of the tree and below ruler and heat map, in device pixels;
  /// `scale`: of those to a logical one. Format_RGB32.
  void draw(const TimelineFrame& frame, QImage& image, double scale);
  /// The strip of all classes by time: how much of each pixel's time is exposed communication. `height` rows
  /// of pixels are shared by the classes. While moving, every second column is worked out, with hundreds of
  /// classes every fourth.
  void drawHeat(const TimelineFrame& frame, QImage& image);

  [[nodiscard]] const RowCounts& counts() const { return rows_.counts(); }

 private:
  /// One class of ranks: works out every `step`-th column and repeats it.
  void heatRow(std::size_t rankClass, const TimelineFrame& frame, int step, QRgb* row);

  Palette palette_;
  LaneRowPainter rows_;
  std::vector<float> totals_;     // of a row of exposed time
  std::array<QRgb, 256> heat_{};  // [share * 255]
};

/// Colour of a share of exposed communication, 0 to 1, on the palette's background.
[[nodiscard]] QRgb heatColour(const Palette& palette, float share);

}  // namespace vsim::gui
