#include <catch2/catch.hpp>
#include <set>

#include "sim/cluster/cluster_catalogue.h"
#include "sim/cluster/gpu_catalogue.h"

using namespace vsim;

TEST_CASE("every board of the measured kernel table is in the catalogue", "[cluster]") {
  for (const char* name : {"A100-SXM-80GB", "A100-PCIe-80GB", "A100-PCIe-40GB", "A100-80GB", "A40",
                           "H100-SXM", "H100-SXM-500W", "H100-PCIe", "H20", "H800-SXM", "H200-SXM", "GH200",
                           "B200-SXM", "B300-SXM", "GB200", "GB300", "L40S", "A100-SXM-40GB"}) {
    INFO(name);
    const core::GpuSpec* gpu = sim::findGpu(name);
    REQUIRE(gpu != nullptr);
    CHECK(gpu->name == name);
    CHECK(gpu->sms > 0);
    CHECK(gpu->peakBf16 > gpu->peakFp32);
    CHECK(gpu->hbmBytesPerSecond > 5e11);
    CHECK(gpu->memory > (std::int64_t{38} << 30));
    CHECK(gpu->powerWatts > 0);
  }
  CHECK(sim::gpuNames().size() == 18);
  CHECK(sim::findGpu("H100") == nullptr);
  CHECK(sim::findGpu("") == nullptr);
}

TEST_CASE("boards of one family keep their own figures", "[cluster]") {
  CHECK(sim::findGpu("H800-SXM")->family == "H100");
  CHECK(sim::findGpu("H20")->family == "H100");
  CHECK(sim::findGpu("GH200")->family == "H100");
  CHECK(sim::findGpu("B300-SXM")->family == "B200");
  CHECK(sim::findGpu("GB300")->family == "GB200");
  CHECK(sim::findGpu("H20")->peakBf16 == 148e12);
  CHECK(sim::findGpu("H800-SXM")->nvlinkBytesPerSecond == 200e9);
  CHECK(sim::findGpu("A100-PCIe-80GB")->hbmBytesPerSecond == 1935e9);
  CHECK(sim::findGpu("A100-SXM-80GB")->peak(core::DType::fp8) == 312e12);
}

TEST_CASE("presets are unique, complete and found by name", "[cluster]") {
  const std::vector<std::string> names = sim::clusterPresetNames();
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  for (const std::string& name : names) {
    INFO(name);
    const auto cluster = sim::clusterPreset(name);
    REQUIRE(cluster.has_value());
    CHECK(cluster->preset == name);
    CHECK(sim::findGpu(cluster->gpu.name) != nullptr);
    CHECK(cluster->gpusPerNode > 0);
    CHECK(cluster->nicsPerNode > 0);
    CHECK(cluster->nicBytesPerSecond > 1e9);
    CHECK(cluster->nodesPerPod > 0);
    CHECK_FALSE(sim::clusterPresetSummary(name).empty());
  }
  for (const char* name : {"a100-80gb-rail-optimized", "a100-40gb-rail-optimized", "h100-rail-optimized",
                           "h100-clos", "h800-rail-optimized", "h800-rail-optimized-400g",
                           "h200-rail-optimized", "h200-clos", "b200-rail-optimized", "gb200-nvl72"}) {
    INFO(name);
    CHECK(sim::clusterPreset(name).has_value());
  }
  CHECK(sim::clusterPreset("h800-rail-optimized")->nicBytesPerSecond == 25e9);
  CHECK(sim::clusterPreset("h800-rail-optimized-400g")->nicBytesPerSecond == 50e9);
}

TEST_CASE("an unknown preset is refused with a suggestion", "[cluster]") {
  const auto near = sim::clusterPreset("h100-rail-optimised");
  REQUIRE_FALSE(near.has_value());
  CHECK(near.error().hint == "did you mean 'h100-rail-optimized'?");
  const auto far = sim::clusterPreset("quantum");
  REQUIRE_FALSE(far.has_value());
  CHECK(far.error().hint.find("h100-clos") != std::string::npos);
}

TEST_CASE("a rack-scale NVLink domain counts as one domain", "[cluster]") {
  CHECK(sim::gpusPerDomain(*sim::clusterPreset("gb200-nvl72")) == 72);
  CHECK(sim::nicsPerDomain(*sim::clusterPreset("gb200-nvl72")) == 72);
  CHECK(sim::gpusPerDomain(*sim::clusterPreset("h100-clos")) == 8);
  CHECK(sim::gpusPerDomain(*sim::clusterPreset("l40s-clos")) == 8);
  CHECK(sim::nicsPerDomain(*sim::clusterPreset("a100-40gb-efa")) == 4);
}
