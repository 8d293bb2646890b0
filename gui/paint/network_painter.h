#pragma once

#include <QPainter>
#include <array>
#include <optional>
#include <vector>

#include "gui/model/network_map.h"
#include "gui/paint/palette.h"

namespace vsim::gui {

/// What the pictures of a network show of it.
struct NetworkPicture {
  const NetworkMap* map = nullptr;          // not owned
  std::optional<TimeRange> limit;           // statistics count it; none: the last step
  std::optional<core::Picoseconds> cursor;  // links are coloured by their load then; none: by the mean
  std::optional<LinkTier> selected, hovered;
  TimeRange zoom;                        // of the curves
  std::vector<TimeRange> highlighted{};  // when the collectives ran that belong to the selection
  [[nodiscard]] TimeRange window() const { return limit.value_or(map->lastStep()); }
};

/// The cluster by tiers, one above the other at fixed places: boxes are all members of a tier, folded; bands
/// between them their links, as wide as their rate and coloured by load. Answers the bands' places.
struct LinkPlace {
  LinkTier tier = LinkTier::local;
  QRectF area;
};
std::vector<LinkPlace> drawTopology(QPainter& painter, const Palette& palette, const NetworkPicture& picture,
                                    const QRectF& area);

/// Traffic from node to node as a square of cells, neighbouring nodes folded.
void drawTraffic(QPainter& painter, const Palette& palette, const NetworkMap& map,
                 const TrafficMatrix& matrix, const QRectF& area);
struct TrafficCell {
  std::int64_t from = 0, to = 0;  // bins
};
[[nodiscard]] std::optional<TrafficCell> trafficCellAt(const TrafficMatrix& matrix, const QRectF& area,
                                                       const QPointF& position);
/// "nodes 20 to 39 to nodes 40 to 59: 1.25 GiB".
[[nodiscard]] QString describeCell(const TrafficMatrix& matrix, const TrafficCell& cell);

/// Load of every tier over time, stacked by kind of collective, a line at the peak of each pixel.
struct LoadLayout {
  std::vector<LinkTier> tiers;  // in order of their strips
  std::vector<QRectF> strips;   // plots
  QRectF plots;                 // around all
};
[[nodiscard]] LoadLayout loadLayout(const NetworkMap& map, const QRectF& area);
void drawLoads(QPainter& painter, const Palette& palette, const NetworkPicture& picture, const QRectF& area);

/// Colour of a load from 0 to 1; above 1 as 1.
[[nodiscard]] QColor loadColour(const Palette& palette, double load);
/// The scale of loadColour with its numbers.
void drawLoadScale(QPainter& painter, const Palette& palette, const QRectF& area);

}  // namespace vsim::gui
