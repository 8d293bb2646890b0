#include "sim/cluster/cluster_catalogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/cluster/gpu_catalogue.h"

namespace vsim::sim {
namespace {

using core::ClusterHardware;
using core::FabricKind;

/// Bytes per second of a link of `gigabits`, one direction.
constexpr double gigabits(double rate) { return rate * 1e9 / 8; }

/// Latency that aws-ofi-nccl reports to NCCL for EFA on p4d, p4de and p5 (the plug-in's platform table); the
/// InfiniBand and RoCE plug-in that is part of NCCL reports 0.
constexpr double kEfaLatency = 75e-6;

/// Slingshot through aws-ofi-nccl: the same default. All-gathers of a few KiB on 8, 32 and 1,024 A100 of ALCF
/// Polaris take 67, 265 and 8,022 us: 23 us per hop between nodes, the share of it that LL messages see.
constexpr double kSlingshotLatency = 75e-6;

struct NodeOptions {
  int gpus = 8;
  int nics = 8;
  double nicGigabits = 400;
  bool nvlink = true;
  bool amdHost = false;
};

ClusterHardware hardware(std::string preset, std::string_view gpu, FabricKind fabric, NodeOptions node = {}) {
  const core::GpuSpec* board = findGpu(gpu);
  VSIM_CHECK(board != nullptr, "a preset names a board of the catalogue");
  ClusterHardware cluster;
  cluster.preset = std::move(preset);
  cluster.gpu = *board;
  cluster.gpusPerNode = node.gpus;
  cluster.nvlinkDomain = node.nvlink ? node.gpus : 1;
  cluster.nvSwitch = node.nvlink;
  cluster.nicsPerNode = node.nics;
  cluster.nicBytesPerSecond = gigabits(node.nicGigabits);
  cluster.amdHost = node.amdHost;
  cluster.fabric = fabric;
  // One leaf layer: rail-optimized, the nodes of an NVIDIA SuperPOD's scalable unit (32 with HDR and NDR
  // switches of 64 ports); Clos, the nodes whose eight NICs fit the 32 downlinks of one 64-port leaf.
  cluster.nodesPerPod = fabric == FabricKind::railOptimized ? 32 : std::max(1, 32 / node.nics);
  return cluster;
}

std::vector<ClusterHardware> buildCatalogue() {
  constexpr auto rail = FabricKind::railOptimized;
  constexpr auto clos = FabricKind::clos;
  // DGX A100 and HGX A100: 8 x 200 Gb/s HDR, AMD Rome (DGX A100 system architecture white paper).
  const NodeOptions dgxA100{.nicGigabits = 200, .amdHost = true};
  const NodeOptions ndr{};  // DGX H100/H200/B200: 8 x 400 Gb/s ConnectX-7, Intel hosts (DGX datasheets)
  std::vector<ClusterHardware> all;
  all.push_back(hardware("a100-80gb-rail-optimized", "A100-SXM-80GB", rail, dgxA100));
  all.push_back(hardware("a100-80gb-clos", "A100-SXM-80GB", clos, dgxA100));
  // 4 x 100 Gb/s of EFA per node (AWS p4d and p4de instance pages), Intel Cascade Lake.
  all.push_back(hardware("a100-80gb-efa", "A100-SXM-80GB", clos, NodeOptions{.nics = 4, .nicGigabits = 100}));
  all.back().nicLatencySeconds = kEfaLatency;
  all.push_back(hardware("a100-40gb-rail-optimized", "A100-SXM-40GB", rail, dgxA100));
  all.push_back(hardware("a100-40gb-clos", "A100-SXM-40GB", clos, dgxA100));
  all.push_back(hardware("a100-40gb-efa", "A100-SXM-40GB", clos, NodeOptions{.nics = 4, .nicGigabits = 100}));
  all.back().nicLatencySeconds = kEfaLatency;
  // ALCF Polaris: four A100 joined directly by NVLink (no switch), two Slingshot 11 NICs, one AMD Milan (ALCF
  // user guide).
  all.push_back(hardware("a100-40gb-slingshot", "A100-SXM-40GB", clos,
                         NodeOptions{.gpus = 4, .nics = 2, .nicGigabits = 200, .amdHost = true}));
  all.back().nvSwitch = false;
  all.back().nicLatencySeconds = kSlingshotLatency;
  all.push_back(hardware("a100-80gb-pcie-clos", "A100-PCIe-80GB", clos,
                         NodeOptions{.nics = 2, .nicGigabits = 200, .nvlink = false, .amdHost = true}));
  all.push_back(hardware("a40-clos", "A40", clos,
                         NodeOptions{.nics = 2, .nicGigabits = 200, .nvlink = false, .amdHost = true}));
  // NVIDIA OVX with eight L40S: 4 x 200 Gb/s in the largest configuration.
  all.push_back(
      hardware("l40s-clos", "L40S", clos, NodeOptions{.nics = 4, .nicGigabits = 200, .nvlink = false}));
  all.push_back(hardware("h100-rail-optimized", "H100-SXM", rail, ndr));
  all.push_back(hardware("h100-clos", "H100-SXM", clos, ndr));
  all.push_back(hardware("h100-500w-rail-optimized", "H100-SXM-500W", rail, ndr));
  // AWS p5.48xlarge: 32 x 100 Gb/s of EFA, AMD Milan (AWS instance page).
  all.push_back(
      hardware("h100-efa", "H100-SXM", clos, NodeOptions{.nics = 32, .nicGigabits = 100, .amdHost = true}));
  all.back().nicLatencySeconds = kEfaLatency;
  all.push_back(hardware("h100-pcie-clos", "H100-PCIe", clos,
                         NodeOptions{.nics = 2, .nicGigabits = 400, .nvlink = false}));
  // H800: the NIC rate is our reading of the veScale-FSDP paper's Table 1 (arXiv 2602.22437): its bus
  // bandwidth is 72 % of eight 200 Gb/s NICs. The second preset is the same node with 400 Gb/s.
  all.push_back(hardware("h800-rail-optimized", "H800-SXM", rail, NodeOptions{.nicGigabits = 200}));
  all.push_back(hardware("h800-rail-optimized-400g", "H800-SXM", rail, ndr));
  all.push_back(hardware("h800-clos", "H800-SXM", clos, NodeOptions{.nicGigabits = 200}));
  all.push_back(hardware("h20-rail-optimized", "H20", rail, ndr));
  // CSCS Alps: four GH200 (96 GB HBM3, 4 TB/s) joined directly by NVLink, one Slingshot 11 NIC each.
  all.push_back(
      hardware("gh200-slingshot", "GH200", clos, NodeOptions{.gpus = 4, .nics = 4, .nicGigabits = 200}));
  all.back().nvSwitch = false;
  all.back().nicLatencySeconds = 30e-6;  // all-reduces of up to 1 KiB on 8 to 256 nodes: 40 to 160 us
  all.back().gpu.hbmBytesPerSecond = 4000e9;
  all.back().gpu.memory = std::int64_t{96'768} << 20;
  all.push_back(hardware("h200-rail-optimized", "H200-SXM", rail, ndr));
  all.push_back(hardware("h200-clos", "H200-SXM", clos, ndr));
  all.push_back(hardware("b200-rail-optimized", "B200-SXM", rail, ndr));
  all.push_back(hardware("b200-clos", "B200-SXM", clos, ndr));
  // DGX and HGX B300: 8 x 800 Gb/s ConnectX-8.
  all.push_back(hardware("b300-rail-optimized", "B300-SXM", rail, NodeOptions{.nicGigabits = 800}));
  // NVL72: 18 trays of four GPUs in one NVLink domain, one NIC per GPU: 400 Gb/s (GB200), 800 Gb/s (GB300).
  for (const auto& [preset, gpu, rate] :
       {std::tuple{"gb200-nvl72", "GB200", 400.0}, std::tuple{"gb300-nvl72", "GB300", 800.0}}) {
    all.push_back(hardware(preset, gpu, rail, NodeOptions{.gpus = 4, .nics = 4, .nicGigabits = rate}));
    all.back().nvlinkDomain = 72;
    all.back().nodesPerPod = 8 * 18;
  }
  return all;
}

const std::vector<ClusterHardware>& catalogue() {
  static const std::vector<ClusterHardware> all = buildCatalogue();
  return all;
}

const ClusterHardware* find(const std::string& name) {
  for (const ClusterHardware& cluster : catalogue()) {
    if (cluster.preset == name) return &cluster;
  }
  return nullptr;
}

}  // namespace

core::Result<ClusterHardware> clusterPreset(const std::string& name) {
  if (const ClusterHardware* cluster = find(name)) return *cluster;
  const std::vector<std::string> names = clusterPresetNames();
  const std::string near = core::nearest(name, names);
  return core::fail(fmt::format("unknown cluster preset '{}'", name),
                    near.empty() ? fmt::format("known: {}", fmt::join(names, ", "))
                                 : fmt::format("did you mean '{}'?", near));
}

std::vector<std::string> clusterPresetNames() {
  std::vector<std::string> names;
  for (const ClusterHardware& cluster : catalogue()) names.push_back(cluster.preset);
  return names;
}

std::string clusterPresetSummary(const std::string& name) {
  const ClusterHardware* cluster = find(name);
  if (cluster == nullptr) return {};
  const std::string domain = cluster->nvlinkDomain > cluster->gpusPerNode
                                 ? fmt::format(", NVLink domain {}", cluster->nvlinkDomain)
                                 : std::string();
  return fmt::format("{} x {} per node{}, {} x {:g} Gb/s, {}", cluster->gpusPerNode, cluster->gpu.name,
                     domain, cluster->nicsPerNode, cluster->nicBytesPerSecond * 8e-9,
                     cluster->fabric == FabricKind::railOptimized ? "rail-optimized" : "two-level Clos");
}

int gpusPerDomain(const ClusterHardware& cluster) {
  return std::max(cluster.gpusPerNode, cluster.nvlinkDomain);
}

int nicsPerDomain(const ClusterHardware& cluster) {
  const int domain = gpusPerDomain(cluster);
  return std::max(1, cluster.nicsPerNode * domain / std::max(1, cluster.gpusPerNode));
}

}  // namespace vsim::sim
