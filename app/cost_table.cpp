#include "app/cost_table.h"

#include <algorithm>
#include <cmath>

#include "app/cluster.h"
#include "sim/cluster/described_cluster.h"

namespace vsim::app {
namespace {

using namespace core;

/// Host time of one eager launch: framework dispatch and autograd included (about 5 us in PyTorch's own
/// dispatch-overhead profiles; compiled graphs launch through generated wrappers). An estimate: calibration
/// on hardware replaces it.
constexpr double kEagerLaunchUs = 5.0;
constexpr double kCompiledLaunchUs = 3.0;
constexpr double kHostCallUs = 1.0;
constexpr double kDriverAllocateUs = 300.0;

/// Every step waits for the slowest rank. Published runs lose about 1 % per doubling of the nodes with
/// communication fully hidden (llm-foundry's throughput tables, 8 to 64 A100 and H100): kernel jitter that a
/// rank's own program does not show.
constexpr double kJitterPerDoubling = 0.01;

ResultAll<CostModels> modelsOf(const Scenario& scenario, const ClusterHardware& cluster,
                               const Profile& profile) {
  auto parameters = sim::KernelModel::loadParameters();
  if (!parameters) return tl::unexpected(Errors{parameters.error()});
  const sim::KernelSoftware software{.attention = scenario.software.attention,
                                     .compile = scenario.software.compile,
                                     .year = scenario.software.year};
  const auto kernels = [&] {
    if (cluster.gpu.computeCapability == 0) return sim::ProfiledKernels(cluster.gpu, profile);
    return sim::ProfiledKernels(sim::KernelModel(cluster.gpu, std::move(*parameters), software), profile);
  };
  CostModels models{.cluster = cluster,
                    .profile = profile,
                    .kernels = kernels(),
                    .collectives = sim::ProfiledCollectives(sim::CollectiveModel(cluster), profile),
                    .compiled = scenario.software.compile};
  models.nodes = std::max<std::int64_t>(1, scenario.cluster.gpus / std::max(1, cluster.gpusPerNode));
  return models;
}

/// A measured cost of the host, or the estimate.
Picoseconds hostTime(const std::optional<ProfiledHost>& host, double ProfiledHost::*measuredSeconds,
                     double estimateUs) {
  if (host && *host.*measuredSeconds > 0) return picosecondsFromSeconds(*host.*measuredSeconds);
  return picosecondsFromMicroseconds(estimateUs);
}

}  // namespace

ResultAll<CostModels> costModels(const Scenario& scenario) {
  auto cluster = clusterHardware(scenario);
  if (!cluster) return tl::unexpected(cluster.error());
  const std::string& path =
      scenario.profilePath.empty() ? scenario.cluster.profilePath : scenario.profilePath;
  Profile profile;
  if (!path.empty()) {
    auto read = readProfile(path);
    if (!read) return tl::unexpected(read.error());
    profile = std::move(*read);
  }
  return modelsOf(scenario, *cluster, profile);
}

ResultAll<CostModels> costModels(const Scenario& scenario, Profile profile) {
  if (!profile.hardware) {
    auto cluster = clusterHardware(scenario);
    if (!cluster) return tl::unexpected(cluster.error());
    return modelsOf(scenario, *cluster, profile);
  }
  auto cluster = sim::describedCluster(*profile.hardware);
  if (!cluster) return tl::unexpected(Errors{cluster.error()});
  if (cluster->nicsPerNode == 0 || cluster->nicBytesPerSecond <= 0) {
    // NICs that were not found are no limit to what was measured: faster than any NIC of today, one a GPU.
    cluster->nicsPerNode = cluster->gpusPerNode;
    cluster->nicBytesPerSecond = 100e9;
  }
  return modelsOf(scenario, *cluster, profile);
}

CostTable costTable(const StepProgram& program, const CostModels& models) {
  CostTable table;
  const double jitter = 1.0 + kJitterPerDoubling * std::log2(static_cast<double>(models.nodes));
  table.operations.reserve(program.operations.size());
  for (const Operation& operation : program.operations) {
    Cost cost = models.kernels.cost(operation);
    cost.time = static_cast<Picoseconds>(static_cast<double>(cost.time) * jitter);
    // A memory-bound kernel on a side stream takes the HBM bandwidth that compute would have had.
    if (operation.kind == OpKind::memory) cost.slowdown = 1.0;
    table.operations.push_back(cost);
  }
  table.collectives.reserve(program.collectives.size());
  for (const Collective& c : program.collectives) {
    const std::int64_t elements = std::max(c.sendElements, c.receiveElements);
    table.collectives.push_back(models.collectives.cost(c.kind, elements * bytesOf(c.dtype),
                                                        program.groups[c.group], c.aligned16, c.dtype));
  }
  const auto& host = models.profile.host;
  table.launch = hostTime(host, &ProfiledHost::launch, models.compiled ? kCompiledLaunchUs : kEagerLaunchUs);
  table.hostCall = hostTime(host, &ProfiledHost::call, kHostCallUs);
  table.driverAllocate = hostTime(host, &ProfiledHost::driverAllocate, kDriverAllocateUs);
  return table;
}

Bytes contextBytes(const GpuSpec& gpu) {
  // A CUDA context with the framework's modules loaded takes 0.4 to 0.6 GiB on Ampere and later (nvidia-smi
  // of an idle process), cuBLAS keeps a workspace of 32 MiB on compute capability 9.0 and 8 MiB before.
  constexpr Bytes kMebi = Bytes{1} << 20;
  if (gpu.computeCapability == 0) return 0;
  return (gpu.computeCapability >= 90 ? 550 + 32 : 450 + 8) * kMebi;
}

Bytes ncclBytes(const StepProgram& program, const CostModels& models) {
  // NCCL 2.30: per channel and connection 524,288 B (LL), 4,915,200 B (LL128) and 4 MiB (Simple); a ring has
  // two connections per channel.
  constexpr Bytes kPerConnection = 524'288 + 4'915'200 + 4'194'304;
  Bytes total = 0;
  if (models.cluster.gpu.computeCapability == 0) return total;
  for (const CommGroup& group : program.groups) {
    if (group.size < 2) continue;
    const int channels =
        models.collectives.model().explain(CollectiveKind::allReduce, Bytes{1} << 30, group).channels;
    total += 2 * kPerConnection * std::max(1, channels);
  }
  return total;
}

}  // namespace vsim::app
