#include "gpu/calibrate/job_layout.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "gpu/data_plan.h"
#include "tests/gpu/calibrate/simulated_machine.h"

using namespace vsim;
using namespace vsim::gpu;
using core::Locality;

namespace {

struct Topology {
  std::string name;
  std::vector<int> hosts;
  std::vector<std::string> racks;
  std::set<Locality> crossed;
};

const std::vector<Topology>& topologies() {
  using enum Locality;
  static const std::vector<Topology> all{
      {"one rank", {1}, {}, {}},
      {"two in a node", {2}, {}, {node}},
      {"eight in a node", {8}, {}, {node}},
      {"six in a node", {6}, {}, {node}},
      {"two nodes of eight", {8, 8}, {}, {node, nodes}},
      {"three nodes of four", {4, 4, 4}, {}, {node, nodes}},
      {"four nodes of one", {1, 1, 1, 1}, {}, {nodes}},
      {"uneven nodes", {4, 2, 2}, {}, {node, nodes}},
      {"two racks of two nodes", {8, 8, 8, 8}, {"r1", "r1", "r2", "r2"}, {node, nodes, racks}},
      {"two racks of one node", {8, 8}, {"r1", "r2"}, {node, racks}},
      {"one rack", {8, 8}, {"r1", "r1"}, {node, nodes}},
      {"one node without a rack", {8, 8}, {"r1", ""}, {node, nodes}},
      {"many ranks", std::vector<int>(32, 8), {}, {node, nodes}},
  };
  return all;
}

}  // namespace

TEST_CASE("job layout: groups cross every boundary that the job has") {
  for (const Topology& topology : topologies()) {
    INFO(topology.name);
    const JobLayout layout = jobLayout(test::factsOf(topology.hosts, topology.racks));
    std::set<Locality> crossed;
    for (const MeasuredGroup& group : measuredGroups(layout)) crossed.insert(group.locality);
    CHECK(crossed == topology.crossed);
    std::set<Locality> missing;
    for (const MissingLevel& level : missingLevels(layout)) {
      CHECK_FALSE(level.why.empty());
      missing.insert(level.level);
    }
    CHECK(crossed.size() + missing.size() == 3);
    for (const Locality level : crossed) CHECK_FALSE(missing.contains(level));
  }
}

TEST_CASE("job layout: every group divides the ranks, and its shape is what its members say") {
  for (const Topology& topology : topologies()) {
    INFO(topology.name);
    const JobLayout layout = jobLayout(test::factsOf(topology.hosts, topology.racks));
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    for (const MeasuredGroup& group : measuredGroups(layout)) {
      CHECK(group.group.size > 1);
      CHECK(layout.ranks % (group.group.size * group.group.stride) == 0);
      CHECK(seen.emplace(group.group.size, group.group.stride).second);
      std::map<int, int> perNode;
      for (const int member : membersOf(group.group, 0))
        ++perNode[layout.nodeOf[static_cast<std::size_t>(member)]];
      if (layout.evenNodes && layout.ranksPerNode % group.group.size == 0 && group.group.stride == 1)
        CHECK(perNode.begin()->second == group.ranksPerNode);
      CHECK((perNode.size() > 1) <= (group.locality > Locality::node));
    }
  }
}

TEST_CASE("job layout: the widest group of every boundary comes first") {
  const JobLayout layout = jobLayout(test::factsOf({8, 8, 8, 8}, {"r1", "r1", "r2", "r2"}));
  const auto groups = measuredGroups(layout);
  REQUIRE(groups.size() > 4);
  CHECK(groups[0].group.size == 32);
  CHECK(groups[0].locality == Locality::racks);
  CHECK(groups[1].group.size == 16);
  CHECK(groups[1].locality == Locality::nodes);
  CHECK(groups[2].group.size == 8);
  CHECK(groups[2].locality == Locality::node);
  CHECK(groups[3].group.size == 4);  // one rank of every node
  CHECK(groups[3].group.stride == 8);
  CHECK(groups[3].ranksPerNode == 1);
}

TEST_CASE("job layout: halves of a node, and groups that are strided across nodes") {
  const auto groups = measuredGroups(jobLayout(test::factsOf({8, 8})));
  const auto has = [&](std::int64_t size, std::int64_t stride, int ranksPerNode) {
    return std::ranges::any_of(groups, [&](const MeasuredGroup& g) {
      return g.group.size == size && g.group.stride == stride && g.ranksPerNode == ranksPerNode;
    });
  };
  CHECK(has(2, 1, 2));
  CHECK(has(4, 1, 4));
  CHECK(has(8, 1, 8));
  CHECK(has(16, 1, 8));
  CHECK(has(2, 8, 1));
  CHECK(has(4, 4, 2));
  CHECK(has(8, 2, 4));
}

TEST_CASE("job layout: ranks dealt out to hosts in turns") {
  MachineFacts facts = test::factsOf({1, 1, 1, 1});
  facts.ranks[2].host = "host0";
  facts.ranks[3].host = "host1";
  const JobLayout layout = jobLayout(facts);
  CHECK(layout.nodes == 2);
  CHECK_FALSE(layout.evenNodes);
  CHECK(measuredGroup(layout, {"g", 2, 2}).locality == Locality::node);
  CHECK(measuredGroup(layout, {"g", 2, 1}).locality == Locality::nodes);
}
