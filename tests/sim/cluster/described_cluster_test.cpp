#include "sim/cluster/described_cluster.h"

#include <catch2/catch.hpp>

#include "sim/cluster/cluster_catalogue.h"
#include "sim/cluster/gpu_catalogue.h"

using namespace vsim;

namespace {

core::Result<core::ClusterHardware> described(const std::string& cluster, const std::string& hardware = "") {
  const auto profile =
      core::parseProfile("vsim_profile: 1\ncluster: {" + cluster + "}\n" + hardware, "p.yaml");
  if (!profile) FAIL(core::text(profile.error()));
  REQUIRE(profile->hardware.has_value());
  return sim::describedCluster(*profile->hardware);
}

}  // namespace

TEST_CASE("boards are found by the driver's names") {
  const auto name = [](const char* device) {
    const core::GpuSpec* board = sim::boardOfDevice(device);
    return board ? board->name : std::string("none");
  };
  CHECK(name("NVIDIA H200") == "H200-SXM");
  CHECK(name("NVIDIA H100 80GB HBM3") == "H100-SXM");
  CHECK(name("NVIDIA H100 PCIe") == "H100-PCIe");
  CHECK(name("NVIDIA H20") == "H20");
  CHECK(name("NVIDIA H800") == "H800-SXM");
  CHECK(name("NVIDIA A100-SXM4-80GB") == "A100-SXM-80GB");
  CHECK(name("NVIDIA A100-SXM4-40GB") == "A100-SXM-40GB");
  CHECK(name("NVIDIA A100-PCIE-40GB") == "A100-PCIe-40GB");
  CHECK(name("NVIDIA A100 80GB PCIe") == "A100-PCIe-80GB");
  CHECK(name("NVIDIA GB200") == "GB200");
  CHECK(name("NVIDIA GH200 480GB") == "GH200");
  CHECK(name("NVIDIA B200") == "B200-SXM");
  CHECK(name("NVIDIA L40S") == "L40S");
  CHECK(name("NVIDIA A40") == "A40");
  for (const char* other : {"", "NVIDIA A4000", "AMD EPYC 7763", "NVIDIA RTX A400", "XH2000"})
    CHECK(name(other) == "none");
  for (const std::string& board : sim::gpuNames()) CHECK(name(board.c_str()) == board);
}

TEST_CASE("a preset stands for itself") {
  const auto cluster = described("preset: h100-efa");
  REQUIRE(cluster);
  CHECK(*cluster == *sim::clusterPreset("h100-efa"));
  const auto unknown = described("preset: h100-eta");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().hint.find("h100-efa") != std::string::npos);
}

TEST_CASE("a hand-written description is completed from the catalogue") {
  const auto cluster =
      described("gpu: H100-SXM, gpus: 64, gpus_per_node: 8, nics_per_node: 4, nic: 200Gb/s, hbm: 3TB/s");
  REQUIRE(cluster);
  CHECK(cluster->gpu.hbmBytesPerSecond == 3e12);
  CHECK(cluster->gpu.peakBf16 == sim::findGpu("H100-SXM")->peakBf16);
  CHECK(cluster->gpu.sms == 132);
  CHECK(cluster->nvlinkDomain == 8);
  CHECK(cluster->nvSwitch);
  CHECK(cluster->nicsPerNode == 4);
  CHECK(cluster->nicBytesPerSecond == 25e9);
}

TEST_CASE("the peaks of a known board that was measured are the datasheet's") {
  const auto cluster = described(
      "gpu: NVIDIA H200, gpus: 1, gpus_per_node: 1, bf16_peak: 700TFLOP/s, hbm: 4TB/s, memory: 150GB",
      "hardware: {executor: cuda, device: NVIDIA H200}\n");
  REQUIRE(cluster);
  CHECK(cluster->gpu.name == "H200-SXM");
  CHECK(cluster->gpu.peakBf16 == sim::findGpu("H200-SXM")->peakBf16);
  CHECK(cluster->gpu.hbmBytesPerSecond == sim::findGpu("H200-SXM")->hbmBytesPerSecond);
  CHECK(cluster->gpu.memory == 150'000'000'000);
  CHECK(cluster->gpusPerNode == 1);
}

TEST_CASE("a processor is what was measured of it") {
  const auto cluster = described(
      "gpu: some CPU, gpus: 8, gpus_per_node: 8, sms: 16, fp32_peak: 100GFLOP/s, hbm: 20GB/s, memory: 64GiB",
      "hardware: {executor: host}\n");
  REQUIRE(cluster);
  CHECK(cluster->gpu.computeCapability == 0);
  CHECK(cluster->gpu.peakBf16 == 100e9);
  CHECK(cluster->nvlinkDomain == 1);
}

TEST_CASE("what is missing of an unknown board is told") {
  const auto board = described("gpu: Quantum 9, sms: 10, hbm: 1TB/s");
  REQUIRE_FALSE(board);
  CHECK(board.error().message ==
        "the profile's cluster does not say compute_capability, bf16_peak, memory, and 'Quantum 9' is no "
        "board of "
        "the catalogue");
  CHECK(described("gpu: Quantum 9, sms: 10, hbm: 1TB/s, compute_capability: 90, bf16_peak: 1000TFLOP/s, "
                  "memory: 80GiB")
            ->gpu.family == "H100");
}
