#include "gpu/calibrate/job_layout.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "gpu/data_plan.h"

namespace vsim::gpu {

using core::Locality;

namespace {

int numberOf(std::map<std::string, int>& known, const std::string& name) {
  return known.try_emplace(name, static_cast<int>(known.size())).first->second;
}

bool crosses(const JobLayout& layout, Locality level) {
  const std::vector<MeasuredGroup> groups = measuredGroups(layout);
  return std::ranges::any_of(groups, [&](const MeasuredGroup& g) { return g.locality == level; });
}

/// Sizes and strides that groups may have: powers of two and the shape of the nodes.
std::vector<std::int64_t> divisorsToTry(const JobLayout& layout) {
  std::set<std::int64_t> sizes{layout.ranks, layout.ranksPerNode, layout.nodes};
  for (std::int64_t size = 1; size <= layout.ranks; size *= 2) sizes.insert(size);
  for (std::int64_t size = layout.ranks; size > 1 && size % 2 == 0; size /= 2) sizes.insert(size);
  for (std::int64_t size = layout.ranksPerNode; size > 1 && size % 2 == 0; size /= 2) sizes.insert(size);
  return {sizes.begin(), sizes.end()};
}

/// Smaller is measured sooner.
int importance(const JobLayout& layout, const MeasuredGroup& g, bool widest) {
  if (widest) return 0;
  if (g.ranksPerNode == 1 && g.group.size == layout.nodes) return 1;  // one rank of every node
  if (g.group.stride == 1 && g.locality == Locality::node) return 2;
  if (g.group.stride == 1) return 3;
  return 4;
}

}  // namespace

JobLayout jobLayout(const MachineFacts& facts) {
  JobLayout layout;
  std::map<std::string, int> hosts, racks;
  layout.ranks = std::max(1, static_cast<int>(facts.ranks.size()));
  layout.racksKnown =
      !facts.ranks.empty() && std::ranges::none_of(facts.ranks, [](const auto& r) { return r.rack.empty(); });
  std::vector<int> members;
  for (const RankFacts& rank : facts.ranks) {
    const int node = numberOf(hosts, rank.host);
    members.resize(hosts.size());
    if (++members[static_cast<std::size_t>(node)] > 1 && layout.nodeOf.back() != node)
      layout.evenNodes = false;
    layout.nodeOf.push_back(node);
    layout.rackOf.push_back(layout.racksKnown ? numberOf(racks, rank.rack) : 0);
  }
  if (facts.ranks.empty()) {
    layout.nodeOf = layout.rackOf = {0};
    members = {1};
  }
  layout.nodes = static_cast<int>(members.size());
  layout.racks = std::max(1, static_cast<int>(racks.size()));
  layout.ranksPerNode = *std::ranges::max_element(members);
  if (*std::ranges::min_element(members) != layout.ranksPerNode) layout.evenNodes = false;
  return layout;
}

MeasuredGroup measuredGroup(const JobLayout& layout, const core::CommGroup& group) {
  MeasuredGroup result{group, 1, Locality::node};
  for (int rank = 0; rank < layout.ranks; ++rank) {
    std::map<int, int> perNode;
    std::set<int> racks;
    for (const int member : membersOf(group, rank)) {
      const auto at = static_cast<std::size_t>(member);
      if (at >= layout.nodeOf.size()) continue;
      result.ranksPerNode = std::max(result.ranksPerNode, ++perNode[layout.nodeOf[at]]);
      racks.insert(layout.rackOf[at]);
    }
    const Locality here = racks.size() > 1     ? Locality::racks
                          : perNode.size() > 1 ? Locality::nodes
                                               : Locality::node;
    result.locality = std::max(result.locality, here);
  }
  return result;
}

std::vector<MeasuredGroup> measuredGroups(const JobLayout& layout) {
  std::vector<MeasuredGroup> found;
  const std::vector<std::int64_t> sizes = divisorsToTry(layout);
  for (const std::int64_t size : sizes)
    for (const std::int64_t stride : sizes)
      if (size > 1 && layout.ranks % (size * stride) == 0)
        found.push_back(measuredGroup(
            layout,
            {.name = fmt::format("{}_ranks_{}_apart", size, stride), .size = size, .stride = stride}));
  std::map<Locality, std::size_t> widest;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [at, added] = widest.try_emplace(found[i].locality, i);
    // Neighbours are the usual group; among them the largest.
    const auto key = [&](std::size_t g) {
      return std::tuple(found[g].group.stride == 1, found[g].group.size);
    };
    if (!added && key(i) > key(at->second)) at->second = i;
  }
  std::vector<std::pair<int, std::size_t>> order;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool isWidest = widest.at(found[i].locality) == i;
    order.emplace_back(importance(layout, found[i], isWidest), i);
  }
  std::ranges::stable_sort(order, [&](const auto& a, const auto& b) {
    return std::tuple(a.first, -found[a.second].group.size) <
           std::tuple(b.first, -found[b.second].group.size);
  });
  std::vector<MeasuredGroup> result;
  for (const auto& [level, index] : order) result.push_back(found[index]);
  return result;
}

std::vector<MissingLevel> missingLevels(const JobLayout& layout) {
  std::vector<MissingLevel> missing;
  if (!crosses(layout, Locality::node))
    missing.push_back(
        {Locality::node, layout.ranks == 1 ? "the job has one rank" : "every node has one rank"});
  if (!crosses(layout, Locality::nodes))
    missing.push_back({Locality::nodes, layout.nodes == 1 ? "the job has one node"
                                                          : "no group stays in a rack and crosses nodes"});
  if (!crosses(layout, Locality::racks))
    missing.push_back({Locality::racks,
                       !layout.racksKnown ? "the racks of the nodes are not known" : "the job has one rack"});
  return missing;
}

}  // namespace vsim::gpu
