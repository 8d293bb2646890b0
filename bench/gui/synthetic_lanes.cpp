#include "bench/gui/synthetic_lanes.h"

#include <random>

namespace vsim::bench {

std::vector<gui::LaneColumns> syntheticLanes(std::size_t slices, std::size_t lanes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<gui::LaneColumns> result(lanes);
  constexpr core::Picoseconds kMicrosecond = 1'000'000;
  for (std::size_t l = 0; l < lanes; ++l) {
    gui::LaneColumns& lane = result[l];
    const std::size_t count = slices / lanes + (l < slices % lanes ? 1 : 0);
    lane.begin.reserve(count);
    lane.end.reserve(count);
    lane.kind.reserve(count);
    lane.source.reserve(count);
    core::Picoseconds time = 0;
    auto kind = gui::SliceClass::forward;
    for (std::size_t i = 0; i < count; ++i) {
      if (random() % 12 == 0) kind = static_cast<gui::SliceClass>(random() % gui::kSliceClasses);
      if (random() % 4 == 0) time += static_cast<core::Picoseconds>(random() % 100) * kMicrosecond;
      lane.begin.push_back(time);
      time += static_cast<core::Picoseconds>(1 + random() % 200) * kMicrosecond;
      lane.end.push_back(time);
      lane.kind.push_back(kind);
      lane.source.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return result;
}

}  // namespace vsim::bench
