#pragma once

#include <cmath>
#include <random>
#include <string>

#include "core/profile/profile.h"

namespace vsim::test {

/// Random profiles with everything that a file can hold; entries differ in name or size.
class RandomProfile {
 public:
  explicit RandomProfile(unsigned seed) : random_(seed) {}

  core::Profile make() {
    core::Profile profile;
    profile.name = text();
    profile.source = word();
    profile.gpus = count(1, 1 << 20);
    if (coin()) profile.hardware = hardware();
    profile.gpu = profile.hardware ? profile.hardware->cluster.gpu.name : text();
    profile.gpusPerNode = profile.hardware ? profile.hardware->cluster.gpusPerNode : count(1, 72);
    if (coin()) profile.host = core::ProfiledHost{time(), time(), coin() ? 0 : time(), origin()};
    for (std::int64_t i = count(0, 12); i > 0; --i) profile.collectives.push_back(collective(i));
    for (std::int64_t i = count(1, 12); i > 0; --i) profile.operations.push_back(operation(i));
    for (int i = 0; i < 4; ++i)
      if (coin()) profile.terms.push_back(term(i));
    for (std::int64_t i = count(0, 5); i > 0; --i)
      profile.interference.push_back({kind(), i << 20, 16, 8, real(0, 2), coin() ? 0 : real(0, 2), origin()});
    return profile;
  }

 private:
  std::int64_t count(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool coin() { return count(0, 1) == 1; }
  double real(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random_);
  }
  double time() {
    return coin() ? std::pow(10, real(-9, 1.7)) : static_cast<double>(count(1, 99'999)) * 1e-7;
  }
  double rate() { return coin() ? std::pow(10, real(0, 16)) : static_cast<double>(count(1, 9999)) * 1e9; }
  std::string word() { return "run" + std::to_string(count(0, 99)); }
  std::string text() {
    static const std::string letters[] = {
        "a",  "Z",    " ",    "\"",       "\\",           ":", "#", "'", "{", "]", ",", "\n",
        "\t", "\x01", "\x7f", "\xc3\xa4", "\xe2\x82\xac", "-", "%", "0"};
    std::string result = coin() ? "x" : "true";
    for (std::int64_t i = count(0, 20); i > 0; --i) result += letters[count(0, 19)];
    return result;
  }
  core::CollectiveKind kind() { return static_cast<core::CollectiveKind>(count(0, 4)); }
  core::Origin origin() {
    return {static_cast<core::Provenance>(count(0, 3)), coin() ? "run" : text(), coin() ? 0.05 : real(0, 1)};
  }
  core::ProfiledCollective collective(std::int64_t index) {
    core::ProfiledCollective c;
    c.kind = kind();
    c.bytes = (std::int64_t{1} << count(10, 58)) + index;
    c.ranksPerNode = count(1, 8);
    c.ranks = c.ranksPerNode * count(2, 64);
    c.stride = coin() ? 1 : count(1, 64);
    c.anyAlignment = count(0, 3) == 0;
    c.aligned = c.anyAlignment || coin();
    if (coin()) c.dtype = coin() ? core::DType::bf16 : core::DType::fp32;
    c.seconds = time();
    c.origin = origin();
    return c;
  }
  core::ProfiledOperation operation(std::int64_t index) {
    core::ProfiledOperation o;
    o.name = text();
    o.m = index;
    if (coin()) o.kind = static_cast<core::OpKind>(count(0, 4));
    if (coin()) o.dtype = core::DType::fp8;
    for (std::int64_t* size :
         {&o.n, &o.k, &o.groups, &o.batch, &o.sequence, &o.heads, &o.kvHeads, &o.headDim, &o.bytes})
      if (coin()) *size = count(1, std::int64_t{1} << 40);
    o.seconds = time();
    o.origin = origin();
    return o;
  }
  core::ProfiledTerm term(int index) {
    core::ProfiledTerm t;
    t.term = static_cast<core::LinkTerm>(index);
    if (coin()) t.kind = kind();
    t.value = index < 2 ? time() : rate();
    t.origin = origin();
    return t;
  }
  core::ProfiledHardware hardware() {
    core::ProfiledHardware h;
    h.executor = coin() ? "cuda" : "host";
    h.device = text();
    h.started = coin() ? "" : "2026-11-30T12:00:00Z";
    h.remark = coin() ? "" : text();
    h.scale = coin() ? 1 : real(1e-6, 1);
    for (std::int64_t i = count(0, 3); i > 0; --i)
      h.versions.emplace_back(text() + std::to_string(i), text());
    if (coin())
      h.clocks = {.ratedHertz = coin() ? 0 : real(1e9, 3e9),
                  .processorHertz = coin() ? 0 : rate(),
                  .lowestHertz = coin() ? 0 : 1.2e9,
                  .memoryHertz = coin() ? 0 : rate(),
                  .powerWatts = coin() ? 0 : real(1, 1200),
                  .highestPowerWatts = coin() ? 0 : real(1, 1200),
                  .celsius = coin() ? 0 : real(1, 100)};
    h.measured = {core::Locality::node};
    h.missing =
        coin() ? std::vector{core::Locality::nodes, core::Locality::racks} : std::vector<core::Locality>{};
    h.cluster = cluster();
    return h;
  }
  core::ClusterHardware cluster() {
    core::ClusterHardware c;
    c.preset = coin() ? "" : text();
    c.gpu = {.name = text(),
             .family = coin() ? "" : "H200",
             .computeCapability = coin() ? 0 : 90,
             .sms = static_cast<int>(count(0, 200)),
             .peakBf16 = coin() ? 0 : rate(),
             .peakFp8 = coin() ? 0 : rate(),
             .peakFp32 = rate(),
             .hbmBytesPerSecond = rate(),
             .memory = count(0, std::int64_t{1} << 50),
             .nvlinkBytesPerSecond = coin() ? 0 : rate(),
             .powerWatts = coin() ? 0 : real(1, 1200)};
    c.gpusPerNode = static_cast<int>(count(1, 16));
    c.nvlinkDomain = static_cast<int>(count(1, 72));
    c.nvSwitch = coin();
    c.nicsPerNode = static_cast<int>(count(0, 32));
    c.nicBytesPerSecond = coin() ? 0 : rate();
    c.nicLatencySeconds = coin() ? 0 : time();
    c.amdHost = coin();
    c.fabric = coin() ? core::FabricKind::clos : core::FabricKind::railOptimized;
    c.oversubscription = coin() ? 1 : real(1, 8);
    c.nodesPerPod = static_cast<int>(count(0, 64));
    return c;
  }

  std::mt19937 random_;
};

}  // namespace vsim::test
