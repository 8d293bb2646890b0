#include "gui/model/layer_bands.h"

#include <catch2/catch.hpp>
#include <set>

#include "gui/model/timeline_scene.h"
#include "tests/gui/model/opened_scenario.h"
#include "traces/slice_text.h"

namespace vsim::gui {

TEST_CASE("layers: bands are in order and hold every kernel of their unit and no other one's") {
  const auto run = test::openScenario("tiny");
  const auto data = timelineOf(run->logs[0]);
  const LayerBands layers = layerBandsOf(*data);
  REQUIRE(layers.bands.size() > 6);
  for (std::size_t i = 0; i < layers.bands.size(); ++i) {
    CHECK_FALSE(layers.bands[i].range.empty());
    if (i > 0) CHECK(layers.bands[i].range.begin >= layers.bands[i - 1].range.end);
  }
  const auto compute =
      std::ranges::find_if(data->tracks, [](const Track& t) { return t.compute && t.lane >= 0; });
  const LaneColumns& lane = data->lanes[static_cast<std::size_t>(compute->lane)];
  const std::vector<std::string> layersOf = traces::sliceLayers(*run->logs[0]->program);
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const std::string& unit = layersOf[lane.source[i]];
    const auto [first, last] = layers.in({lane.begin[i], lane.end[i]});
    if (unit.empty()) {
      CHECK(first == last);
    } else {
      REQUIRE(last == first + 1);
      CHECK(layers.units[layers.bands[first].unit] == unit);
    }
  }
  const std::set<std::string> names(layers.units.begin(), layers.units.end());
  CHECK(names.size() == layers.units.size());
  for (const char* name : {"L1", "L2", "L3", "loss"}) CHECK(names.contains(name));
}

TEST_CASE("layers: ranges before, after and of nothing") {
  const LayerBands layers{{"L0"}, {{{10, 20}, 0}, {{20, 30}, 0}}};
  CHECK(layers.in({0, 10}) == std::pair<std::size_t, std::size_t>(0, 0));
  CHECK(layers.in({0, 11}) == std::pair<std::size_t, std::size_t>(0, 1));
  CHECK(layers.in({19, 21}) == std::pair<std::size_t, std::size_t>(0, 2));
  CHECK(layers.in({30, 40}) == std::pair<std::size_t, std::size_t>(2, 2));
  CHECK(layerBandsOf(TimelineData()).bands.empty());
}

}  // namespace vsim::gui
