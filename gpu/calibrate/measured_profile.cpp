#include "gpu/calibrate/measured_profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace vsim::gpu {

using core::ProfiledOperation;

namespace {

/// Device families that the simulator knows kernels of, as they appear in the driver's names.
std::string familyOf(const std::string& device) {
  for (const char* family : {"GB200", "B200", "H200", "H100", "H800", "A100", "A800", "L40S", "A40"})
    if (device.find(family) != std::string::npos) return family;
  return {};
}

bool is16Bit(const std::optional<core::DType>& type) {
  return type == core::DType::bf16 || type == core::DType::fp16;
}

/// Bytes a second of the device's memory: the best of copies too large for any cache. Where there is none,
/// that of the largest kernel.
double memoryRate(const core::Profile& profile) {
  constexpr core::Bytes kUncached = core::Bytes{256} << 20U;
  double best = 0, ofLargest = 0;
  core::Bytes largest = 0;
  for (const ProfiledOperation& point : profile.operations) {
    if (!(point.seconds > 0) || point.bytes <= 0) continue;
    const double rate = static_cast<double>(point.bytes) / point.seconds;
    if (point.name == "copy" && point.bytes >= kUncached) best = std::max(best, rate);
    if (point.bytes > largest || (point.bytes == largest && rate > ofLargest)) {
      largest = point.bytes;
      ofLargest = rate;
    }
  }
  return best > 0 ? best : ofLargest;
}

void fillPeaks(const core::Profile& profile, core::GpuSpec& gpu) {
  for (const ProfiledOperation& point : profile.operations) {
    if (!(point.seconds > 0)) continue;
    const double flops =
        2 * static_cast<double>(point.m) * static_cast<double>(point.n) * static_cast<double>(point.k);
    if (is16Bit(point.dtype)) gpu.peakBf16 = std::max(gpu.peakBf16, flops / point.seconds);
    if (point.dtype == core::DType::fp32) gpu.peakFp32 = std::max(gpu.peakFp32, flops / point.seconds);
    if (point.dtype == core::DType::fp8) gpu.peakFp8 = std::max(gpu.peakFp8, flops / point.seconds);
  }
  gpu.hbmBytesPerSecond = memoryRate(profile);
}

/// A processor's rates that the time of the calibration did not suffice for: the best that was measured, else
/// what any core of today does. They count for kernels without a point alone.
void completeProcessor(core::GpuSpec& board) {
  constexpr double kSlowCore = 1e9;  // FLOP/s and bytes/s
  board.peakBf16 = std::max({board.peakBf16, board.peakFp32, kSlowCore});
  if (board.peakFp32 <= 0) board.peakFp32 = board.peakBf16;
  board.hbmBytesPerSecond = std::max(board.hbmBytesPerSecond, kSlowCore);
}

auto keyOf(const core::ProfiledCollective& c) {
  return std::tuple(c.kind, c.bytes, c.ranks, c.ranksPerNode, c.stride, c.dtype, c.aligned);
}
auto keyOf(const ProfiledOperation& o) {
  return std::tuple(o.name, o.kind, o.dtype, std::tuple(o.m, o.n, o.k, o.groups),
                    std::tuple(o.batch, o.sequence, o.heads, o.kvHeads, o.headDim), o.bytes);
}
auto keyOf(const core::ProfiledInterference& i) {
  return std::tuple(i.kind, i.bytes, i.ranks, i.ranksPerNode);
}

/// `count` more of the same were merged into `into` before.
template <class Point>
void mergeTimes(Point& into, const Point& other, int count) {
  const double mean = (into.seconds * count + other.seconds) / (count + 1);
  into.origin.relativeError = std::max({into.origin.relativeError, other.origin.relativeError,
                                        std::abs(into.seconds - other.seconds) / 2 / mean});
  into.seconds = mean;
}
void mergeTimes(core::ProfiledInterference& into, const core::ProfiledInterference& other, int count) {
  into.computeSlowdown = (into.computeSlowdown * count + other.computeSlowdown) / (count + 1);
  into.stretch = (into.stretch * count + other.stretch) / (count + 1);
}

/// What a profile cannot tell apart (in place or not, with a window or without) becomes one entry: the mean,
/// as uncertain as the difference.
template <class Point>
void mergeEqual(std::vector<Point>& points) {
  std::map<decltype(keyOf(points.front())), std::pair<std::size_t, int>> seen;
  std::vector<Point> merged;
  for (Point& point : points) {
    const auto [at, added] = seen.try_emplace(keyOf(point), merged.size(), 1);
    if (added) {
      merged.push_back(std::move(point));
    } else {
      mergeTimes(merged[at->second.first], point, at->second.second++);
    }
  }
  points = std::move(merged);
}

std::string sourceText(const MachineFacts& facts, const JobLayout& layout, const std::string& started) {
  const std::string device = facts.ranks.empty() ? "" : facts.ranks.front().device;
  return fmt::format("measured by vsim, {} executor: {} rank{} on {} node{}{}{}", facts.executor,
                     layout.ranks, layout.ranks == 1 ? "" : "s", layout.nodes, layout.nodes == 1 ? "" : "s",
                     device.empty() ? "" : ", " + device, started.empty() ? "" : ", " + started);
}

}  // namespace

core::ClusterHardware clusterOf(const MachineFacts& facts) {
  const JobLayout layout = jobLayout(facts);
  core::ClusterHardware cluster;
  core::GpuSpec& gpu = cluster.gpu;
  gpu.computeCapability = 0;
  cluster.nicsPerNode = 0;
  cluster.nicBytesPerSecond = 0;
  if (!facts.ranks.empty()) {
    const RankFacts& rank = facts.ranks.front();
    gpu.name = rank.device;
    gpu.family = familyOf(rank.device);
    gpu.computeCapability = rank.computeCapability;
    gpu.sms = rank.sms;
    gpu.memory = rank.memory;
    gpu.nvlinkBytesPerSecond = rank.nvlinkBytesPerSecond;
    for (const NicFacts& nic : rank.nics)
      cluster.nicBytesPerSecond = std::max(cluster.nicBytesPerSecond, nic.bytesPerSecond);
    // Cards that are much slower than the fastest are there for other things than training.
    for (const NicFacts& nic : rank.nics)
      if (2 * nic.bytesPerSecond >= cluster.nicBytesPerSecond) ++cluster.nicsPerNode;
    cluster.nvSwitch = rank.nvlinkBytesPerSecond > 0;
  }
  cluster.gpusPerNode = layout.ranksPerNode;
  cluster.nvlinkDomain = layout.ranksPerNode;
  return cluster;
}

core::Profile measuredProfile(const MachineFacts& facts, const Schedule& schedule,
                              const std::string& started) {
  const JobLayout layout = jobLayout(facts);
  core::Profile profile;
  profile.source = sourceText(facts, layout, started);
  std::set<core::Locality> crossed;
  for (const Planned& planned : schedule.measurements) {
    if (!planned.measurement->hasResult()) continue;
    core::Origin origin;
    origin.source = profile.source;
    planned.measurement->store(profile, std::move(origin));
    if (planned.locality) crossed.insert(*planned.locality);
  }
  mergeEqual(profile.collectives);
  mergeEqual(profile.operations);
  mergeEqual(profile.interference);
  core::ProfiledHardware hardware;
  hardware.executor = facts.executor;
  hardware.device = facts.ranks.empty() ? "" : facts.ranks.front().device;
  hardware.cluster = clusterOf(facts);
  fillPeaks(profile, hardware.cluster.gpu);
  if (readingOf(facts) == Reading::shared) completeProcessor(hardware.cluster.gpu);
  for (const core::Locality level : {core::Locality::node, core::Locality::nodes, core::Locality::racks})
    (crossed.contains(level) ? hardware.measured : hardware.missing).push_back(level);
  hardware.versions = facts.versions;
  hardware.started = started;
  profile.gpu = hardware.cluster.gpu.name;
  profile.gpus = layout.ranks;
  profile.gpusPerNode = layout.ranksPerNode;
  profile.hardware = std::move(hardware);
  return profile;
}

}  // namespace vsim::gpu
