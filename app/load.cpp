#include "app/load.h"

#include "sim/cluster/cluster_catalogue.h"

namespace vsim::app {

core::ReadOptions readOptions(const RunOptions& options) {
  return {.overrides = options.overrides,
          .searchFolders = searchFolders(),
          .clusterPresets = sim::clusterPresetNames()};
}

core::ResultAll<std::vector<core::Scenario>> loadScenarios(const RunOptions& options) {
  const core::ReadOptions read = readOptions(options);
  if (options.text) return core::parseSweep(*options.text, options.scenario, read);
  auto path = core::findScenario(options.scenario, read);
  if (!path) return tl::unexpected(core::Errors{path.error()});
  return core::readSweep(*path, read);
}

}  // namespace vsim::app
