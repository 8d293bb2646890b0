#include "app/topology_text.h"

#include <fmt/format.h>

#include "app/cluster.h"
#include "app/load.h"
#include "sim/cluster/cluster_catalogue.h"
#include "sim/cluster/topology.h"

namespace vsim::app {

core::ResultAll<std::string> topologyText(const RunOptions& options) {
  auto scenarios = loadScenarios(options);
  if (!scenarios) return tl::unexpected(scenarios.error());
  const core::Scenario& scenario = scenarios->front();
  const auto cluster = clusterHardware(scenario);
  if (!cluster) return tl::unexpected(cluster.error());
  auto text = sim::describeTopology(*cluster, scenario.cluster.gpus);
  if (!text) return tl::unexpected(core::Errors{text.error()});
  return *text;
}

std::string clusterListText() {
  std::string out;
  for (const std::string& name : sim::clusterPresetNames())
    out += fmt::format("{:<34}{}\n", name, sim::clusterPresetSummary(name));
  return out;
}

}  // namespace vsim::app
