#include <catch2/catch.hpp>

#include "sim/cluster/cluster_catalogue.h"
#include "sim/cluster/topology.h"

using namespace vsim;

namespace {

std::string links(const sim::Path& path) {
  std::string text;
  for (const sim::PathHop& hop : path.hops) text += (text.empty() ? "" : " ") + hop.link;
  return text;
}

}  // namespace

TEST_CASE("paths follow the fabric", "[cluster]") {
  const auto cluster = sim::clusterPreset("h100-rail-optimized").value();
  const auto topology = sim::Topology::whole(cluster, 64 * 8);
  REQUIRE(topology.has_value());
  CHECK(links(topology->path(0, 7)) == "NVLink NVLink");
  CHECK(topology->path(0, 7).bytesPerSecond() == 450e9);
  CHECK(links(topology->path(0, 8)) == "PCIe NIC NIC PCIe");
  CHECK(topology->path(0, 8).bytesPerSecond() == 50e9);
  // Another rail: over NVLink first, the rails do not meet in the leaves.
  const sim::Path other = topology->path(0, 8 + 3);
  CHECK(other.hops.size() == 6);
  CHECK(other.bytesPerSecond() == 50e9);
  // Another pod: through the spine of the rail.
  CHECK(links(topology->path(0, 33 * 8)) == "PCIe NIC leaf-spine leaf-spine NIC PCIe");
  CHECK(topology->path(0, 0).hops.empty());
  CHECK(topology->path(0, 100'000).hops.empty());
}

TEST_CASE("Clos leaves join all NICs of their nodes", "[cluster]") {
  const auto cluster = sim::clusterPreset("h100-clos").value();
  const auto topology = sim::Topology::whole(cluster, 64);
  REQUIRE(topology.has_value());
  CHECK(links(topology->path(0, 8 + 3)) == "PCIe NIC NIC PCIe");
  CHECK(links(topology->path(0, 63)) == "PCIe NIC leaf-spine leaf-spine NIC PCIe");
}

TEST_CASE("systems without a switch or without NVLink", "[cluster]") {
  const auto alps = sim::Topology::whole(sim::clusterPreset("gh200-slingshot").value(), 8);
  REQUIRE(alps.has_value());
  CHECK(links(alps->path(0, 3)) == "NVLink");
  CHECK(alps->path(0, 3).bytesPerSecond() == 150e9);
  const auto l40s = sim::Topology::whole(sim::clusterPreset("l40s-clos").value(), 16);
  REQUIRE(l40s.has_value());
  CHECK(links(l40s->path(0, 1)).find("PCIe") == 0);
  CHECK(l40s->path(0, 8).bytesPerSecond() == 25e9);
  const auto rack = sim::Topology::whole(sim::clusterPreset("gb200-nvl72").value(), 144);
  REQUIRE(rack.has_value());
  CHECK(links(rack->path(0, 71)) == "NVLink NVLink");
  CHECK(rack->path(0, 72).bytesPerSecond() == 50e9);
}

TEST_CASE("a large cluster is described without being built", "[cluster]") {
  const auto cluster = sim::clusterPreset("h800-rail-optimized").value();
  const auto summary = sim::summarizeTopology(cluster, 10'240);
  REQUIRE(summary.has_value());
  CHECK(summary->nodes == 1280);
  CHECK(summary->pods == 40);
  CHECK(summary->nodeBytesPerSecond == 200e9);
  CHECK(summary->bisectionBytesPerSecond == Approx(640 * 200e9));
  CHECK_FALSE(sim::Topology::whole(cluster, 10'240).has_value());
  const auto text = sim::describeTopology(cluster, 10'240);
  REQUIRE(text.has_value());
  INFO(*text);
  CHECK(text->find("leaf switches") != std::string::npos);
  CHECK(text->find("path 0 -> 10239 (25.0 GB/s)") != std::string::npos);
  CHECK_FALSE(sim::describeTopology(cluster, 0).has_value());
  CHECK_FALSE(sim::describeTopology(cluster, std::int64_t{1} << 40).has_value());
  for (const std::string& name : sim::clusterPresetNames()) {
    INFO(name);
    CHECK(sim::describeTopology(sim::clusterPreset(name).value(), 1).has_value());
    CHECK(sim::describeTopology(sim::clusterPreset(name).value(), 1000).has_value());
  }
}

TEST_CASE("oversubscription narrows the bisection", "[cluster]") {
  auto cluster = sim::clusterPreset("h100-clos").value();
  cluster.oversubscription = 4;
  const auto summary = sim::summarizeTopology(cluster, 512);
  REQUIRE(summary.has_value());
  CHECK(summary->oversubscription == Approx(4));
  CHECK(summary->bisectionBytesPerSecond == Approx(32 * 400e9 / 4));
}
