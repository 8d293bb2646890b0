#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "sim/cluster/cluster_catalogue.h"
#include "sim/network/collective_model.h"
#include "sim/network/profiled_collectives.h"

using namespace vsim;
using core::CollectiveKind;
using core::CommGroup;

namespace {

double seconds(const core::Cost& cost) { return core::secondsFromPicoseconds(cost.time); }

/// Bytes over line rate, written apart from the model: NVLink or PCIe of one GPU plus its NIC share, and the
/// NICs of the domain shared by all groups on it.
double physicalBound(const core::ClusterHardware& c, CollectiveKind kind, double bytes,
                     const CommGroup& group) {
  const double n = static_cast<double>(group.size);
  if (group.size <= 1 || bytes <= 0) return 0;
  const double domain = std::max(c.gpusPerNode, c.nvlinkDomain);
  const double perDomain = std::min(n, std::ceil(domain / static_cast<double>(group.stride)));
  const double domains =
      perDomain == 1 ? n : std::floor((n - 1) * static_cast<double>(group.stride) / domain) + 1;
  const double nicPerGpu =
      domains > 1 ? c.nicBytesPerSecond * c.nicsPerNode / static_cast<double>(c.gpusPerNode) : 0;
  const bool nvlink = c.nvlinkDomain > 1;
  const double pcie = c.gpu.computeCapability >= 90 ? 64e9 : 32e9;  // raw x16 rate
  const double local = perDomain > 1 ? (nvlink ? c.gpu.nvlinkBytesPerSecond : pcie) : 0;
  double into = bytes * (n - 1) / n;
  if (kind == CollectiveKind::allReduce) into = nvlink && c.nvSwitch ? bytes : 2 * into;
  if (kind == CollectiveKind::broadcast) into = bytes;
  double bound = into / (local + nicPerGpu);
  if (domains > 1) {
    double nics = bytes * (n - perDomain) / n;
    if (kind == CollectiveKind::allToAll) nics *= perDomain;
    if (kind == CollectiveKind::allReduce) nics = 2 * bytes * (domains - 1) / domains;
    if (kind == CollectiveKind::broadcast) nics = bytes;
    bound = std::max(bound, nics / (nicPerGpu * perDomain));
  }
  return bound;
}

}  // namespace

TEST_CASE("no collective is faster than its bytes over the links", "[network]") {
  std::mt19937_64 random(20240601);
  const std::vector<std::string> presets = sim::clusterPresetNames();
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  for (int round = 0; round < 20'000; ++round) {
    const auto cluster = sim::clusterPreset(presets[below(presets.size())]).value();
    sim::NetworkParameters parameters;
    if (round % 2 == 1) {  // whatever someone fits
      parameters.nicEfficiency = 0.5 + static_cast<double>(below(1000)) / 100;
      parameters.ringEfficiencyHopper = parameters.ringEfficiencyAcrossNodes =
          0.5 + static_cast<double>(below(1000)) / 100;
      parameters.nvlsEfficiencyHopper = 5;
      parameters.allToAllNicEfficiency = parameters.allToAllEfficiencyHopper = 3;
      parameters.ringRankLatency = 0;
    }
    const auto kind = static_cast<CollectiveKind>(below(5));
    const CommGroup group{"g", static_cast<std::int64_t>(1 + below(2048)), std::int64_t{1} << below(8)};
    const auto bytes = static_cast<std::int64_t>(below(std::uint64_t{1} << (1 + below(38))));
    const sim::CollectiveModel model(cluster, parameters);
    core::Profile profile;
    if (round % 4 == 3) {  // a profile that claims the impossible
      core::ProfiledCollective point;
      point.kind = kind;
      point.bytes = std::max<std::int64_t>(1, bytes);
      const sim::GroupShape shape = sim::groupShape(cluster, group);
      point.ranks = shape.ranks;
      point.ranksPerNode = shape.ranksPerDomain;
      point.seconds = 1e-9;
      profile.collectives.push_back(point);
      if (round % 8 == 7) profile.collectives[0].bytes = 2 * point.bytes;
    }
    const sim::ProfiledCollectives profiled(model, profile);
    for (const bool aligned : {true, false}) {
      const core::Cost cost = profiled.cost(kind, bytes, group, aligned);
      INFO(cluster.preset << " kind " << static_cast<int>(kind) << " bytes " << bytes << " ranks "
                          << group.size << " stride " << group.stride);
      REQUIRE(seconds(cost) >= physicalBound(cluster, kind, static_cast<double>(bytes), group));
      REQUIRE(cost.slowdown >= 0);
      REQUIRE(cost.slowdown <= 1);
      if (aligned) REQUIRE(profiled.cost(kind, bytes, group, false).time >= cost.time);
    }
  }
}

TEST_CASE("more bytes never take much less time", "[network]") {
  for (const char* preset : {"h100-rail-optimized", "a100-80gb-clos", "gb200-nvl72", "l40s-clos"}) {
    const sim::CollectiveModel model(sim::clusterPreset(preset).value());
    for (int kind = 0; kind < 5; ++kind) {
      for (const std::int64_t ranks : {2, 8, 64, 1024}) {
        double last = 0;
        for (std::int64_t bytes = 1024; bytes <= std::int64_t{1} << 34; bytes *= 2) {
          const double now = seconds(model.cost(static_cast<CollectiveKind>(kind), bytes, {"g", ranks, 1}));
          INFO(preset << " kind " << kind << " ranks " << ranks << " bytes " << bytes);
          REQUIRE(now >= 0.9 * last);
          last = now;
        }
      }
    }
  }
}

TEST_CASE("groups that share a node share its NICs", "[network]") {
  const auto cluster = sim::clusterPreset("h100-rail-optimized").value();
  const sim::GroupShape shard = sim::groupShape(cluster, {"shard", 64, 1});
  CHECK(shard.ranksPerDomain == 8);
  CHECK(shard.domains == 8);
  CHECK(shard.nicBytesPerSecond == Approx(8 * 50e9));
  CHECK_FALSE(shard.railOnly);
  const sim::GroupShape replicate = sim::groupShape(cluster, {"replicate", 10, 1024});
  CHECK(replicate.ranksPerDomain == 1);
  CHECK(replicate.domains == 10);
  CHECK(replicate.nicBytesPerSecond == Approx(50e9));
  CHECK(replicate.railOnly);
  CHECK(replicate.crossesSpine);
  const sim::GroupShape inside = sim::groupShape(cluster, {"ep", 8, 1});
  CHECK(inside.domains == 1);
  CHECK(inside.nicBytesPerSecond == 0);
  const sim::GroupShape strided = sim::groupShape(cluster, {"dp", 16, 2});
  CHECK(strided.ranksPerDomain == 4);
  CHECK(strided.domains == 4);
  CHECK(strided.nicBytesPerSecond == Approx(4 * 50e9));
  const sim::GroupShape rack = sim::groupShape(sim::clusterPreset("gb200-nvl72").value(), {"shard", 72, 1});
  CHECK(rack.domains == 1);
}

TEST_CASE("NCCL's choices on known systems", "[network]") {
  const sim::CollectiveModel h100(sim::clusterPreset("h100-rail-optimized").value());
  const auto one = h100.explain(CollectiveKind::allGather, 1 << 29, {"g", 8, 1});
  CHECK(one.algorithm == sim::Algorithm::ring);
  CHECK(one.protocol == sim::Protocol::simple);
  CHECK(one.channels == 24);
  CHECK(h100.explain(CollectiveKind::allGather, 4096, {"g", 8, 1}).protocol == sim::Protocol::ll);
  CHECK(h100.explain(CollectiveKind::allReduce, 1 << 29, {"g", 8, 1}).algorithm == sim::Algorithm::nvls);
  CHECK(h100.explain(CollectiveKind::allGather, 1 << 29, {"g", 64, 1}).channels == 16);
  // A flat ring wherever a node holds more than one rank: latency grows with the ranks.
  const auto large = h100.explain(CollectiveKind::allGather, 1 << 30, {"g", 1024, 1});
  CHECK(large.algorithm == sim::Algorithm::ring);
  CHECK(large.latency > 8e-3);
  CHECK(large.latency < 9e-3);
  const sim::CollectiveModel a100(sim::clusterPreset("a100-80gb-rail-optimized").value());
  CHECK(a100.explain(CollectiveKind::allReduce, 1 << 29, {"g", 8, 1}).algorithm != sim::Algorithm::nvls);
}

TEST_CASE("misaligned slices cost, all-gather most; nothing to move costs nothing", "[network]") {
  const sim::CollectiveModel model(sim::clusterPreset("h100-rail-optimized").value());
  const auto ratio = [&](CollectiveKind kind) {
    return seconds(model.cost(kind, 1 << 28, {"g", 8, 1}, false)) /
           seconds(model.cost(kind, 1 << 28, {"g", 8, 1}));
  };
  CHECK(ratio(CollectiveKind::allGather) > 2.5);
  CHECK(ratio(CollectiveKind::reduceScatter) > 1.3);
  CHECK(ratio(CollectiveKind::reduceScatter) < 2);
  CHECK(model.cost(CollectiveKind::allGather, 1 << 28, {"g", 1, 1}).time == 0);
  CHECK(model.cost(CollectiveKind::allGather, 0, {"g", 8, 1}).time == 0);
}

TEST_CASE("channels take SMs and payload takes HBM bandwidth", "[network]") {
  const sim::CollectiveModel model(sim::clusterPreset("h100-rail-optimized").value());
  const core::Cost cost = model.cost(CollectiveKind::allGather, 1 << 30, {"g", 64, 1});
  const double payload = (1 << 30) * 63.0 / 64;
  CHECK(cost.slowdown == Approx(16.0 / 132 + 3 * payload / seconds(cost) / 3352e9));
}
