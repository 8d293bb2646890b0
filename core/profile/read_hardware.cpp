#include "core/profile/read_hardware.h"

#include <algorithm>

#include "core/profile/quantity.h"

namespace vsim::core {
namespace {

constexpr std::int64_t kMostPerNode = 4096;
constexpr std::string_view kFabricNames[] = {"rail_optimized", "clos"};

const YamlFields::Keys kClusterKeys{
    "preset", "gpu",         "gpus",          "gpus_per_node",    "family",       "compute_capability",
    "sms",    "memory",      "bf16_peak",     "fp8_peak",         "fp32_peak",    "hbm",
    "nvlink", "power",       "nvlink_domain", "nvswitch",         "amd_host",     "nics_per_node",
    "nic",    "nic_latency", "fabric",        "oversubscription", "nodes_per_pod"};

int wholeInt(YamlFields& fields, const YAML::Node& map, const std::string& key, std::int64_t least,
             std::int64_t most, int fallback) {
  return static_cast<int>(fields.whole(map, key, least, most).value_or(fallback));
}

void readBoard(YamlFields& fields, const YAML::Node& node, GpuSpec& gpu) {
  gpu.family = fields.text(node, "family").value_or("");
  gpu.computeCapability = wholeInt(fields, node, "compute_capability", 0, 9999, 0);
  gpu.sms = wholeInt(fields, node, "sms", 1, 1 << 20, 0);
  gpu.memory = fields.whole(node, "memory", 1, std::int64_t{1} << 60).value_or(0);
  gpu.peakBf16 = fields.quantity(node, "bf16_peak", flopsPerSecondFromText, "989TFLOP/s").value_or(0);
  gpu.peakFp8 = fields.quantity(node, "fp8_peak", flopsPerSecondFromText, "1979TFLOP/s").value_or(0);
  gpu.peakFp32 = fields.quantity(node, "fp32_peak", flopsPerSecondFromText, "67TFLOP/s").value_or(0);
  gpu.hbmBytesPerSecond = fields.quantity(node, "hbm", bytesPerSecondFromText, "3.35TB/s").value_or(0);
  gpu.nvlinkBytesPerSecond = fields.quantity(node, "nvlink", bytesPerSecondFromText, "450GB/s").value_or(0);
  gpu.powerWatts = fields.quantity(node, "power", wattsFromText, "700W").value_or(0);
}

/// What is not stated follows from what is: a node is one NVLink domain behind a switch where boards have
/// NVLink; no NIC is taken for granted.
ClusterHardware readDescription(YamlFields& fields, const YAML::Node& node, const Profile& profile) {
  ClusterHardware cluster;
  cluster.preset = fields.text(node, "preset").value_or("");
  cluster.gpu.name = profile.gpu;
  readBoard(fields, node, cluster.gpu);
  const std::int64_t all = profile.gpus > 0 ? profile.gpus : 8;
  cluster.gpusPerNode =
      static_cast<int>(profile.gpusPerNode > 0 ? profile.gpusPerNode : std::min<std::int64_t>(8, all));
  const bool nvlink = cluster.gpu.nvlinkBytesPerSecond > 0;
  cluster.nvlinkDomain =
      wholeInt(fields, node, "nvlink_domain", 1, kMostPerNode, nvlink ? cluster.gpusPerNode : 1);
  cluster.nvSwitch = fields.flag(node, "nvswitch").value_or(nvlink);
  cluster.amdHost = fields.flag(node, "amd_host").value_or(false);
  cluster.nicsPerNode = wholeInt(fields, node, "nics_per_node", 0, kMostPerNode, 0);
  cluster.nicBytesPerSecond = fields.quantity(node, "nic", bytesPerSecondFromText, "400Gb/s").value_or(0);
  cluster.nicLatencySeconds = fields.quantity(node, "nic_latency", secondsFromText, "75us").value_or(0);
  if (const auto fabric = fields.choice(node, "fabric", kFabricNames))
    cluster.fabric = static_cast<FabricKind>(*fabric);
  cluster.oversubscription =
      fields.number(node, "oversubscription", 1, 1000, "a number between 1 and 1000").value_or(1);
  cluster.nodesPerPod = wholeInt(fields, node, "nodes_per_pod", 0, kMostRanks, 0);
  return cluster;
}

std::vector<Locality> readLevels(YamlFields& fields, const YAML::Node& node, const std::string& key) {
  std::vector<Locality> levels;
  for (const YAML::Node& entry : fields.list(node, key)) {
    const YamlFields::Keys names(std::begin(kLocalityNames), std::end(kLocalityNames));
    const auto index = fields.choiceOf(entry, "level of '" + key + "'", names);
    if (!index) continue;
    const auto level = static_cast<Locality>(*index);
    if (std::find(levels.begin(), levels.end(), level) != levels.end())
      fields.add(entry.Mark(), fmt::format("'{}' appears twice in '{}'", names[*index], key));
    levels.push_back(level);
  }
  return levels;
}

void readVersions(YamlFields& fields, const YAML::Node& node, ProfiledHardware& hardware) {
  const YAML::Node versions = YamlFields::find(node, "versions");
  if (!versions.IsDefined()) return;
  constexpr std::size_t kMost = 100;
  if (!versions.IsMap() || versions.size() > kMost) {
    fields.add(versions.Mark(), fmt::format("'versions' must be a map of at most {} texts", kMost));
    return;
  }
  for (const auto& pair : versions) {
    if (!pair.first.IsScalar() || pair.first.Scalar().empty() || !pair.second.IsScalar()) {
      fields.add(pair.first.Mark(), "'versions' must be a map of texts");
      continue;
    }
    const std::string& name = pair.first.Scalar();
    if (std::any_of(hardware.versions.begin(), hardware.versions.end(),
                    [&](const auto& known) { return known.first == name; }))
      fields.add(pair.first.Mark(),
                 fmt::format("key '{}' appears twice in versions", YamlFields::clip(name)));
    hardware.versions.emplace_back(name, pair.second.Scalar());
  }
}

ProfiledClocks readClocks(YamlFields& fields, const YAML::Node& run) {
  ProfiledClocks clocks;
  const YAML::Node node = YamlFields::find(run, "clocks");
  if (!node.IsDefined() ||
      !fields.checkMap(node, "clocks",
                       {"rated", "processors", "lowest", "memory", "power", "highest_power", "celsius"}))
    return clocks;
  const auto hertz = [&](const char* key) {
    return fields.quantity(node, key, hertzFromText, "1.98GHz").value_or(0);
  };
  clocks.ratedHertz = hertz("rated");
  clocks.processorHertz = hertz("processors");
  clocks.lowestHertz = hertz("lowest");
  clocks.memoryHertz = hertz("memory");
  clocks.powerWatts = fields.quantity(node, "power", wattsFromText, "700W").value_or(0);
  clocks.highestPowerWatts = fields.quantity(node, "highest_power", wattsFromText, "700W").value_or(0);
  clocks.celsius = fields.number(node, "celsius", 0, 1000, "degrees between 0 and 1000").value_or(0);
  return clocks;
}

void readRun(YamlFields& fields, const YAML::Node& node, ProfiledHardware& hardware) {
  if (!fields.checkMap(
          node, "hardware",
          {"executor", "device", "started", "remark", "scale", "versions", "clocks", "measured", "missing"}))
    return;
  hardware.executor = fields.text(node, "executor").value_or("");
  hardware.device = fields.text(node, "device").value_or("");
  hardware.started = fields.text(node, "started").value_or("");
  hardware.remark = fields.text(node, "remark").value_or("");
  if (const auto scale = fields.number(node, "scale", 1e-9, 1, "a number above 0 and at most 1"))
    hardware.scale = *scale;
  readVersions(fields, node, hardware);
  hardware.clocks = readClocks(fields, node);
  hardware.measured = readLevels(fields, node, "measured");
  hardware.missing = readLevels(fields, node, "missing");
  for (const Locality level : hardware.missing)
    if (std::find(hardware.measured.begin(), hardware.measured.end(), level) != hardware.measured.end())
      fields.add(YamlFields::find(node, "missing").Mark(),
                 fmt::format("level '{}' is both measured and missing",
                             kLocalityNames[static_cast<std::size_t>(level)]));
}

}  // namespace

void readHardware(YamlFields& fields, const YAML::Node& root, Profile& profile) {
  const YAML::Node cluster = YamlFields::find(root, "cluster");
  const YAML::Node run = YamlFields::find(root, "hardware");
  bool described = run.IsDefined();
  YAML::Node known(YAML::NodeType::Map);
  if (cluster.IsDefined() && fields.checkMap(cluster, "cluster", kClusterKeys)) {
    known = cluster;
    profile.gpu = fields.text(cluster, "gpu").value_or("");
    profile.gpus = fields.whole(cluster, "gpus", 1, kMostRanks).value_or(0);
    profile.gpusPerNode = fields.whole(cluster, "gpus_per_node", 1, kMostRanks).value_or(0);
    for (const auto& pair : cluster) {
      const std::string key = pair.first.IsScalar() ? pair.first.Scalar() : std::string();
      described = described || (key != "gpu" && key != "gpus" && key != "gpus_per_node");
    }
    if (described && profile.gpusPerNode > kMostPerNode)
      fields.add(YamlFields::find(cluster, "gpus_per_node").Mark(),
                 fmt::format("'gpus_per_node' must be between 1 and {}", kMostPerNode));
  }
  if (!described) return;
  ProfiledHardware hardware;
  hardware.cluster = readDescription(fields, known, profile);
  if (run.IsDefined()) readRun(fields, run, hardware);
  profile.hardware = std::move(hardware);
}

}  // namespace vsim::core
