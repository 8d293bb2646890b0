#pragma once

#include <QPainter>
#include <QString>
#include <map>
#include <optional>
#include <vector>

#include "gui/model/plan_map.h"
#include "gui/paint/palette.h"

namespace vsim::gui {

/// Maps elements of a shard to pixel columns. Plain value.
struct ElementAxis {
  double begin = 0, end = 1;
  double width = 1;
  [[nodiscard]] double perPixel() const { return (end - begin) / (width > 1 ? width : 1); }
  [[nodiscard]] double toX(double element) const { return (element - begin) / perPixel(); }
  [[nodiscard]] double toElement(double x) const { return begin + x * perPixel(); }
};

enum class PlanUnit : std::uint8_t { elements, bytes };

/// One bucket's map as it is to be drawn.
struct PlanPicture {
  const PlanMap* map = nullptr;  // not owned; null: only the message is drawn
  QString title, message;
  double begin = 0, end = 1;  // elements in view
  int firstRow = 0;
  int rowHeight = 20;
  std::int64_t selected = -1;  // tensor
  PlanUnit unit = PlanUnit::elements;
};

struct PlanHit {
  std::size_t row = 0;
  std::int64_t element = 0;
  PlanPiece piece;
};

/// Draws DBuffer maps: a row for each kind of device, tensors in colours, padding hatched. Rows of few pieces
/// are drawn piece by piece with names and blocks, dense ones as one line of mixed pixels. Not thread-safe:
/// keeps the pieces of the rows that it met.
class PlanPainter {
 public:
  static constexpr int kLabels = 150;  // width of the rows' names
  static constexpr int kHead = 44;     // title and ruler above the rows

  [[nodiscard]] static QRectF rowsArea(const QRectF& area);
  [[nodiscard]] static ElementAxis axis(const PlanPicture& picture, const QRectF& area);
  /// Rows that fit into the area.
  [[nodiscard]] static int visibleRows(const PlanPicture& picture, const QRectF& area);

  void draw(QPainter& painter, const Palette& palette, const PlanPicture& picture, const QRectF& area);
  [[nodiscard]] std::optional<PlanHit> hit(const PlanPicture& picture, const QRectF& area,
                                           const QPointF& position);
  [[nodiscard]] const std::vector<PlanPiece>& pieces(const PlanMap& map, std::size_t row);
  /// Maps may be gone: what was kept of them is dropped.
  void forget() { kept_.clear(); }

  /// Rows drawn so far, piece by piece and pixel by pixel.
  struct Counts {
    std::size_t pieces = 0, pixels = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct RowFrame;
  void drawHead(QPainter& painter, const Palette& palette, const PlanPicture& picture, const QRectF& area);
  void drawRow(QPainter& painter, const RowFrame& frame);
  void drawPieces(QPainter& painter, const RowFrame& frame, std::size_t first, std::size_t last);
  void drawPiece(QPainter& painter, const RowFrame& frame, const PlanPiece& piece);
  void drawBlocks(QPainter& painter, const RowFrame& frame, const PlanPiece& piece, const QRectF& box);
  void drawPixels(QPainter& painter, const RowFrame& frame, std::size_t first);
  void drawSelected(QPainter& painter, const RowFrame& frame);

  static constexpr std::size_t kMostKept = 512;
  std::map<std::pair<const PlanMap*, std::size_t>, std::vector<PlanPiece>> kept_;
  Counts counts_;
};

/// Colour of the tensor with that index in its bucket.
[[nodiscard]] QColor tensorColour(const Palette& palette, std::int64_t tensor);
/// Samples and words for what the map's marks mean, in one line.
void drawPlanLegend(QPainter& painter, const Palette& palette, const QRectF& area);

}  // namespace vsim::gui
