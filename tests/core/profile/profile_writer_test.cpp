#include <catch2/catch.hpp>

#include "tests/core/profile/random_profile.h"

using namespace vsim;
using namespace vsim::core;

TEST_CASE("what is written is read back as the same profile", "[profile]") {
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const Profile profile = sortedProfile(test::RandomProfile(seed).make());
    const std::string text = profileText(profile);
    INFO("seed " << seed << "\n" << text);
    const auto back = parseProfile(text, "");
    INFO((back ? std::string() : core::text(back.error())));
    REQUIRE(back.has_value());
    CHECK(back->name == profile.name);
    CHECK(back->source == profile.source);
    CHECK(back->gpu == profile.gpu);
    CHECK(back->gpus == profile.gpus);
    CHECK(back->gpusPerNode == profile.gpusPerNode);
    CHECK(back->hardware == profile.hardware);
    CHECK(back->host == profile.host);
    CHECK(back->collectives == profile.collectives);
    CHECK(back->operations == profile.operations);
    CHECK(back->terms == profile.terms);
    CHECK(back->interference == profile.interference);
    CHECK(profileText(*back) == text);
  }
}

TEST_CASE("a written profile is for people too", "[profile]") {
  Profile profile;
  profile.name = "h200_8";
  profile.source = "vsim calibrate on one node";
  profile.gpus = 8;
  profile.hardware.emplace();
  profile.hardware->executor = "cuda";
  profile.hardware->device = "NVIDIA H200";
  profile.hardware->versions = {{"driver", "580.65"}};
  profile.hardware->clocks = {.ratedHertz = 1.98e9,
                              .processorHertz = 1.755e9,
                              .lowestHertz = 1.2e9,
                              .memoryHertz = 3.201e9,
                              .powerWatts = 612.5,
                              .highestPowerWatts = 701,
                              .celsius = 67};
  profile.hardware->measured = {Locality::node};
  profile.hardware->missing = {Locality::nodes, Locality::racks};
  ClusterHardware& cluster = profile.hardware->cluster;
  cluster.gpu.name = "H200-SXM";
  cluster.gpu.computeCapability = 90;
  cluster.gpu.peakBf16 = 989e12;
  cluster.gpu.hbmBytesPerSecond = 4.8e12;
  profile.host = ProfiledHost{4.1e-6, 0.8e-6, 210e-6, {}};
  profile.host->origin.relativeError = 0.1;
  ProfiledCollective gather;
  gather.bytes = 1 << 20;
  gather.ranks = gather.ranksPerNode = 8;
  gather.seconds = 43.71e-6;
  profile.collectives = {gather, gather};
  profile.collectives[0].bytes = 1 << 30;
  profile.collectives[0].aligned = false;
  profile.interference = {{CollectiveKind::allGather, 1 << 30, 8, 8, 0.125, 0.5, {}}};
  CHECK(profileText(profile) == R"(vsim_profile: 1
name: h200_8
source: "vsim calibrate on one node"
cluster: {gpu: H200-SXM, gpus: 8, gpus_per_node: 8, compute_capability: 90, bf16_peak: 989TFLOP/s, hbm: 4.8TB/s, nvlink_domain: 8, nvswitch: true, nics_per_node: 8, nic: 50GB/s, fabric: rail_optimized}
hardware:
  executor: cuda
  device: "NVIDIA H200"
  versions: {driver: "580.65"}
  clocks: {rated: 1.98GHz, processors: 1.755GHz, lowest: 1.2GHz, memory: 3.201GHz, power: 612.5W, highest_power: 701W, celsius: 67}
  measured: [node]
  missing: [nodes, racks]

host: {launch: 4.1us, call: 800ns, driver_allocate: 210us, error: 0.1}

collectives:
  - {kind: all_gather, bytes: 1048576, ranks: 8, ranks_per_node: 8, aligned: true, time: 43.71us, error: 0.05}
  - {kind: all_gather, bytes: 1073741824, ranks: 8, ranks_per_node: 8, aligned: false, time: 43.71us, error: 0.05}

interference:
  - {kind: all_gather, bytes: 1073741824, ranks: 8, ranks_per_node: 8, compute_slowdown: 0.125, stretch: 0.5, error: 0.05}
)");
}

TEST_CASE("entries that no reader takes are left out", "[profile]") {
  Profile profile;
  profile.source = "s";
  ProfiledOperation good;
  good.name = "a";
  good.seconds = 1e-6;
  good.origin.relativeError = 7;
  ProfiledOperation bad = good;
  bad.name = "b";
  bad.seconds = 0;
  profile.operations = {bad, good};
  bad.seconds = std::nan("");
  profile.operations.push_back(bad);
  profile.interference = {{CollectiveKind::allGather, 1000, 8, 8, -0.01, 1e9, {}}};
  const auto back = parseProfile(profileText(profile), "p");
  REQUIRE(back.has_value());
  REQUIRE(back->operations.size() == 1);
  CHECK(back->operations[0].name == "a");
  CHECK(back->operations[0].origin.relativeError == 1);
  CHECK(back->interference[0].computeSlowdown == 0);
  CHECK(back->interference[0].stretch == 1000);
}
