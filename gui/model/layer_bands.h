#pragma once

#include <string>
#include <vector>

#include "gui/model/timeline_data.h"

namespace vsim::gui {

/// A stretch in which the compute stream works for one part of the model (a layer, the embedding, the loss).
struct LayerBand {
  TimeRange range;
  std::uint32_t unit = 0;  // index into LayerBands::units
};

struct LayerBands {
  std::vector<std::string> units;
  std::vector<LayerBand> bands;  // in order, without overlap
  /// Those that overlap the range: [first, last).
  [[nodiscard]] std::pair<std::size_t, std::size_t> in(TimeRange range) const;
};

/// Of the first class of ranks: a band reaches from the begin of a unit's first kernel to the begin of the
/// next unit's, or to its own last end where work without a unit follows. Empty for traces of other programs.
[[nodiscard]] LayerBands layerBandsOf(const TimelineData& data);

}  // namespace vsim::gui
