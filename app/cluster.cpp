#include "app/cluster.h"

#include <algorithm>

#include "sim/cluster/cluster_catalogue.h"
#include "sim/cluster/described_cluster.h"

namespace vsim::app {

using namespace core;

ResultAll<ClusterHardware> clusterHardware(const Scenario& scenario) {
  if (scenario.cluster.profilePath.empty()) {
    auto preset = sim::clusterPreset(scenario.cluster.preset);
    if (!preset) return tl::unexpected(Errors{preset.error()});
    return *preset;
  }
  auto profile = readProfile(scenario.cluster.profilePath);
  if (!profile) return tl::unexpected(profile.error());
  return clusterHardware(scenario, *profile);
}

ResultAll<ClusterHardware> clusterHardware(const Scenario& scenario, const Profile& described) {
  const auto problem = [&](std::string message, std::string hint) {
    return tl::unexpected(
        Errors{{.message = std::move(message), .file = described.path, .line = 1, .hint = std::move(hint)}});
  };
  ProfiledHardware hardware;
  if (described.hardware) {
    hardware = *described.hardware;
  } else if (!described.gpu.empty()) {
    // An older file: a board and numbers, NICs unknown.
    hardware.cluster.gpu.name = described.gpu;
    hardware.cluster.gpu.computeCapability = 0;
    hardware.cluster.gpusPerNode = static_cast<int>(
        std::clamp<std::int64_t>(described.gpusPerNode, 1, std::max<std::int64_t>(1, described.gpus)));
    hardware.cluster.nvlinkDomain = 1;
    hardware.cluster.nvSwitch = false;
    hardware.cluster.nicsPerNode = 0;
  } else {
    return problem("the profile does not describe a cluster",
                   "cluster: {gpu: H100-SXM, gpus_per_node: 8, nics_per_node: 8, nic: 400Gb/s}");
  }
  auto cluster = sim::describedCluster(hardware);
  if (!cluster) return problem(cluster.error().message, cluster.error().hint);
  const bool nics = cluster->nicsPerNode > 0 && cluster->nicBytesPerSecond > 0;
  const bool processors = cluster->gpu.computeCapability == 0;
  if (!nics && !processors && scenario.cluster.gpus > sim::gpusPerDomain(*cluster))
    return problem(fmt::format("the profile's cluster has no NICs, but {} GPUs are more than one node's {}",
                               scenario.cluster.gpus, sim::gpusPerDomain(*cluster)),
                   "cluster: {nics_per_node: 8, nic: 400Gb/s, ...}");
  return *cluster;
}

}  // namespace vsim::app
