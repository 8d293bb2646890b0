#pragma once

#include <QImage>
#include <QPainter>
#include <QRect>
#include <optional>
#include <vector>

#include "gui/model/memory_data.h"
#include "gui/paint/memory_style.h"

namespace vsim::gui {

/// What the plot of memory over time shows besides the curve.
struct MemoryPlotState {
  TimeRange view;        // of time, or of thousandths of events
  bool byEvent = false;  // the axis counts events: the host may issue all of a step long before it has run
  std::int64_t instant = -1;                  // event that the other panels show
  std::optional<core::Picoseconds> cursor{};  // shared with the timeline
  std::optional<TimeRange> limit{};           // what statistics count
  std::vector<core::Index> selected{};        // buffers; their lifetimes are marked
  bool wholeBoard = false;                    // the axis reaches up to the limit in any case
};

/// Where things are in the plot. Valid for one curve, view and size.
struct MemoryPlotGeometry {
  QRect plot;  // inside the axes
  TimeAxis axis;
  core::Bytes top = 1;  // of the vertical axis
  bool byEvent = false;
  /// Where an event, or a time, is on the horizontal axis.
  [[nodiscard]] std::int64_t placeOf(const MemoryCurve& curve, std::int64_t event) const {
    return byEvent ? std::max<std::int64_t>(0, event) * MemoryCurve::kEventUnit : curve.time(event);
  }
  [[nodiscard]] std::int64_t placeOfTime(const MemoryCurve& curve, core::Picoseconds time) const {
    return byEvent ? curve.firstAt(time) * MemoryCurve::kEventUnit : time;
  }
  /// The time at a column of the plot.
  [[nodiscard]] core::Picoseconds timeAt(const MemoryCurve& curve, double x) const {
    const std::int64_t at = axis.toTime(x);
    return byEvent ? curve.time(std::clamp<std::int64_t>(at / MemoryCurve::kEventUnit, 0, curve.size() - 1))
                   : at;
  }
  [[nodiscard]] double y(core::Bytes bytes) const {
    return plot.bottom() + 1 - static_cast<double>(bytes) * plot.height() / static_cast<double>(top);
  }
};

/// Draws memory over time: categories stacked, solid up to the least that was allocated in a column of pixels
/// and lighter from there to the most, so that nothing gets lost at any zoom; lines for reserved and active,
/// the limit, the peak, steps, cursors. Keeps the areas of the last frame. Not thread-safe.
class MemoryPlotPainter {
 public:
  explicit MemoryPlotPainter(const Palette& palette) : palette_(&palette) {}
  void setPalette(const Palette& palette);
  /// `data` may be null: then axes alone.
  void paint(QPainter& painter, const QRect& area, const MemoryData* data, const MemoryPlotState& state);
  [[nodiscard]] MemoryPlotGeometry geometry(const QRect& area, const MemoryData* data,
                                            const MemoryPlotState& state, const QFont& font) const;
  /// What the column at `x` of the last frame holds; null: nothing, or outside.
  [[nodiscard]] const MemoryExtent* columnAt(int x) const;
  [[nodiscard]] static std::vector<MemoryLegendEntry> legend(const MemoryData& data, const Palette& palette);

  /// The areas alone, one column of pixels for each column of the axis: what costs time in a frame.
  void drawAreas(const MemoryData& data, const MemoryPlotGeometry& geometry, double pixelRatio,
                 QImage& image);

 private:
  void drawAxes(QPainter& painter, const MemoryPlotGeometry& g) const;
  void drawSteps(QPainter& painter, const MemoryPlotGeometry& g, const MemoryData& data) const;
  void drawLimit(QPainter& painter, const MemoryPlotGeometry& g, const MemoryData& data) const;
  void drawPeak(QPainter& painter, const MemoryPlotGeometry& g, const MemoryData& data) const;
  void drawSelected(QPainter& painter, const MemoryPlotGeometry& g, const MemoryData& data,
                    core::Index buffer) const;
  void drawCursors(QPainter& painter, const MemoryPlotGeometry& g, const MemoryData& data,
                   const MemoryPlotState& state) const;

  const Palette* palette_;
  std::vector<MemoryExtent> columns_;
  QRect plot_;
  QImage areas_;
  struct Key {
    const MemoryData* data = nullptr;
    TimeRange view;
    QRect plot;
    core::Bytes top = 0;
    double ratio = 1;
    bool byEvent = false;
    friend bool operator==(const Key&, const Key&) = default;
  } key_;
};

}  // namespace vsim::gui
