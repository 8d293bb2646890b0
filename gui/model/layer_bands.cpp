#include "gui/model/layer_bands.h"

#include <algorithm>
#include <map>

#include "traces/slice_text.h"

namespace vsim::gui {
namespace {

constexpr std::uint32_t kNoUnit = static_cast<std::uint32_t>(-1);

/// Unit of every instruction, as an index into `names`.
std::vector<std::uint32_t> unitsOf(const core::StepProgram& program, std::vector<std::string>& names) {
  std::map<std::string, std::uint32_t> known;
  std::vector<std::uint32_t> units;
  units.reserve(program.step.size());
  for (const std::string& name : traces::sliceLayers(program)) {
    if (name.empty()) {
      units.push_back(kNoUnit);
      continue;
    }
    const auto [at, added] = known.emplace(name, static_cast<std::uint32_t>(names.size()));
    if (added) names.push_back(name);
    units.push_back(at->second);
  }
  return units;
}

}  // namespace

std::pair<std::size_t, std::size_t> LayerBands::in(TimeRange range) const {
  const auto first =
      std::ranges::upper_bound(bands, range.begin, {}, [](const LayerBand& b) { return b.range.end; });
  const auto last =
      std::ranges::lower_bound(bands, range.end, {}, [](const LayerBand& b) { return b.range.begin; });
  const auto begin = static_cast<std::size_t>(first - bands.begin());
  return {begin, std::max(begin, static_cast<std::size_t>(last - bands.begin()))};
}

LayerBands layerBandsOf(const TimelineData& data) {
  LayerBands result;
  const auto compute =
      std::ranges::find_if(data.tracks, [](const Track& track) { return track.lane >= 0 && track.compute; });
  if (!data.log || !data.log->program || compute == data.tracks.end()) return result;
  const std::vector<std::uint32_t> units = unitsOf(*data.log->program, result.units);
  const LaneColumns& lane = data.lanes[static_cast<std::size_t>(compute->lane)];
  bool open = false;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const std::uint32_t unit = units[lane.source[i]];
    if (unit == kNoUnit) {
      open = false;
    } else if (open && result.bands.back().unit == unit) {
      result.bands.back().range.end = lane.end[i];
    } else {
      if (open) result.bands.back().range.end = lane.begin[i];
      result.bands.push_back({{lane.begin[i], lane.end[i]}, unit});
      open = true;
    }
  }
  return result;
}

}  // namespace vsim::gui
