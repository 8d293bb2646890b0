#include "sim/cluster/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <cmath>
#include <map>

#include "core/base/checked.h"
#include "core/base/units.h"
#include "sim/cluster/cluster_catalogue.h"

namespace vsim::sim {
namespace {

using core::ClusterHardware;
using core::FabricKind;

constexpr std::int64_t kMostGpus = std::int64_t{1} << 24;
constexpr std::int64_t kMostMaterialised = 4096;
constexpr std::int64_t kSwitchPorts = 64;  // 400 Gb/s ports of a Quantum-2 or Tomahawk-class switch

/// x16 slots: PCIe 5.0 from Hopper on, 4.0 before (datasheets); raw rate of one direction.
double pcieRate(const ClusterHardware& c) { return c.gpu.computeCapability >= 90 ? 64e9 : 32e9; }

/// Sizes of the switch layers.
struct Fabric {
  std::int64_t pods = 1, leavesPerPod = 1, downlinks = 1, uplinks = 0, spineGroups = 1, spinesPerGroup = 0;
};

Fabric fabricOf(const ClusterHardware& c, std::int64_t nodes) {
  Fabric f;
  const bool rail = c.fabric == FabricKind::railOptimized;
  const std::int64_t perPod = c.nodesPerPod > 0 ? c.nodesPerPod : nodes;
  f.pods = core::ceilDivide(nodes, perPod);
  f.leavesPerPod = rail ? c.nicsPerNode : 1;
  f.downlinks = rail ? std::min(nodes, perPod) : std::min(nodes, perPod) * c.nicsPerNode;
  if (f.pods > 1) {
    f.uplinks =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(static_cast<double>(f.downlinks) /
                                                                      std::max(1.0, c.oversubscription))));
    f.spineGroups = rail ? c.nicsPerNode : 1;  // each rail has spines of its own
    const std::int64_t leavesPerGroup = f.pods * f.leavesPerPod / f.spineGroups;
    f.spinesPerGroup = std::max<std::int64_t>(1, core::ceilDivide(leavesPerGroup * f.uplinks, kSwitchPorts));
  }
  return f;
}

std::string gigabits(double bytesPerSecond) { return fmt::format("{:g} Gb/s", bytesPerSecond * 8e-9); }
std::string gigabytes(double bytesPerSecond) { return fmt::format("{:.1f} GB/s", bytesPerSecond * 1e-9); }

struct VertexInfo {
  std::string name;
};
struct EdgeInfo {
  const char* link = "";
  double rate = 0;
};
using Adjacency = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, VertexInfo, EdgeInfo>;
using Vertex = boost::graph_traits<Adjacency>::vertex_descriptor;
using Edge = boost::graph_traits<Adjacency>::edge_descriptor;

}  // namespace

struct Topology::Graph {
  Adjacency graph;
  std::map<std::int64_t, Vertex> gpus;
};

core::Result<TopologySummary> summarizeTopology(const ClusterHardware& c, std::int64_t gpus) {
  if (gpus < 1 || gpus > kMostGpus) {
    return core::fail(fmt::format("a cluster of {} GPUs cannot be described", gpus),
                      fmt::format("between 1 and {}", kMostGpus));
  }
  TopologySummary s;
  s.gpus = gpus;
  s.nodes = core::ceilDivide(gpus, c.gpusPerNode);
  const Fabric f = fabricOf(c, s.nodes);
  s.pods = f.pods;
  s.nodeBytesPerSecond = c.nicsPerNode * c.nicBytesPerSecond;
  s.oversubscription = f.pods > 1 ? static_cast<double>(f.downlinks) / static_cast<double>(f.uplinks) : 1;
  s.bisectionBytesPerSecond =
      s.nodes > 1 ? static_cast<double>(s.nodes / 2) * s.nodeBytesPerSecond / s.oversubscription : 0;
  const bool nvlink = c.nvlinkDomain > 1;
  s.tiers.push_back(
      {"GPUs", gpus, 0, 1, nvlink ? c.gpu.nvlinkBytesPerSecond : pcieRate(c),
       fmt::format("{}, {} by {}", c.gpu.name, c.gpu.memory > 0 ? core::formatBytes(c.gpu.memory) : "",
                   nvlink ? (c.nvSwitch ? "NVLink through NVSwitch" : "NVLink to each peer") : "PCIe")});
  if (c.nvlinkDomain > c.gpusPerNode) {
    s.tiers.push_back({"NVLink domains", core::ceilDivide(gpus, c.nvlinkDomain), c.nvlinkDomain, 0,
                       c.gpu.nvlinkBytesPerSecond, "rack-scale NVSwitch"});
  }
  s.tiers.push_back({"nodes", s.nodes, c.gpusPerNode, c.nicsPerNode, c.nicBytesPerSecond,
                     fmt::format("{} x {} NICs", c.nicsPerNode, gigabits(c.nicBytesPerSecond))});
  if (s.nodes > 1) {
    s.tiers.push_back({"leaf switches", f.pods * f.leavesPerPod, f.downlinks, f.uplinks, c.nicBytesPerSecond,
                       c.fabric == FabricKind::railOptimized ? "one per rail and pod" : "one per pod"});
  }
  if (f.pods > 1) {
    s.tiers.push_back(
        {"spine switches", f.spineGroups * f.spinesPerGroup,
         core::ceilDivide(f.pods * f.leavesPerPod / f.spineGroups * f.uplinks, f.spinesPerGroup), 0,
         c.nicBytesPerSecond, c.fabric == FabricKind::railOptimized ? "a group per rail" : ""});
  }
  return s;
}

double Path::bytesPerSecond() const {
  double least = 0;
  for (const PathHop& hop : hops)
    least = least == 0 ? hop.bytesPerSecond : std::min(least, hop.bytesPerSecond);
  return least;
}

core::Result<Topology> Topology::whole(const ClusterHardware& cluster, std::int64_t gpus) {
  if (gpus < 1 || gpus > kMostMaterialised) {
    return core::fail(fmt::format("a graph of {} GPUs is not built", gpus),
                      fmt::format("at most {}", kMostMaterialised));
  }
  const std::int64_t count = core::ceilDivide(gpus, cluster.gpusPerNode);
  std::vector<std::int64_t> nodes;
  for (std::int64_t i = 0; i < count; ++i) nodes.push_back(i);
  return ofNodes(cluster, count, std::move(nodes));
}

Topology Topology::ofNodes(const ClusterHardware& c, std::int64_t clusterNodes,
                           std::vector<std::int64_t> nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  auto result = std::make_shared<Graph>();
  Adjacency& g = result->graph;
  std::map<std::string, Vertex> named;
  const auto vertex = [&](const std::string& name) {
    const auto [place, fresh] = named.try_emplace(name, 0);
    if (fresh) place->second = boost::add_vertex(VertexInfo{name}, g);
    return place->second;
  };
  const auto connect = [&](Vertex a, Vertex b, const char* link, double rate) {
    if (!boost::edge(a, b, g).second) boost::add_edge(a, b, EdgeInfo{link, rate}, g);
  };
  const Fabric f = fabricOf(c, clusterNodes);
  const std::int64_t perPod = c.nodesPerPod > 0 ? c.nodesPerPod : std::max<std::int64_t>(1, clusterNodes);
  const bool rail = c.fabric == FabricKind::railOptimized;
  const bool nvlink = c.nvlinkDomain > 1;
  for (const std::int64_t node : nodes) {
    std::vector<Vertex> local;
    const std::int64_t domain = node * c.gpusPerNode / std::max(1, gpusPerDomain(c));
    for (int i = 0; i < c.gpusPerNode; ++i) {
      const std::int64_t number = node * c.gpusPerNode + i;
      const Vertex gpu = vertex(fmt::format("gpu {}", number));
      result->gpus[number] = gpu;
      if (nvlink && c.nvSwitch)
        connect(gpu, vertex(fmt::format("nvswitch {}", domain)), "NVLink", c.gpu.nvlinkBytesPerSecond);
      if (nvlink && !c.nvSwitch) {
        const double perPeer = c.gpu.nvlinkBytesPerSecond / std::max(1, c.gpusPerNode - 1);
        for (const Vertex peer : local) connect(gpu, peer, "NVLink", perPeer);
      }
      if (!nvlink) connect(gpu, vertex(fmt::format("host {}", node)), "PCIe", pcieRate(c));
      local.push_back(gpu);
    }
    if (clusterNodes < 2) continue;
    for (int i = 0; i < c.nicsPerNode; ++i) {
      const Vertex nic = vertex(fmt::format("nic {}.{}", node, i));
      // NICs and GPUs are dealt out evenly: several GPUs to one NIC or several NICs to one GPU.
      if (c.nicsPerNode >= c.gpusPerNode) {
        connect(local[static_cast<std::size_t>(i * c.gpusPerNode / c.nicsPerNode)], nic, "PCIe", pcieRate(c));
      } else {
        for (int j = 0; j < c.gpusPerNode; ++j) {
          if (j * c.nicsPerNode / c.gpusPerNode == i)
            connect(local[static_cast<std::size_t>(j)], nic, "PCIe", pcieRate(c));
        }
      }
      const std::int64_t pod = node / perPod;
      const Vertex leaf = vertex(rail ? fmt::format("leaf {}.{}", pod, i) : fmt::format("leaf {}", pod));
      connect(nic, leaf, "NIC", c.nicBytesPerSecond);
      if (f.pods < 2) continue;
      const double perSpine = static_cast<double>(f.uplinks) / static_cast<double>(f.spinesPerGroup);
      // One spine stands for its group: all of them offer the same path.
      connect(leaf, vertex(rail ? fmt::format("spine {}.*", i) : std::string("spine *")), "leaf-spine",
              std::max(1.0, perSpine) * c.nicBytesPerSecond);
    }
  }
  return Topology(std::move(result));
}

std::size_t Topology::vertexCount() const { return boost::num_vertices(graph_->graph); }
std::size_t Topology::edgeCount() const { return boost::num_edges(graph_->graph); }

Path Topology::path(std::int64_t fromGpu, std::int64_t toGpu) const {
  const Adjacency& g = graph_->graph;
  const auto from = graph_->gpus.find(fromGpu), to = graph_->gpus.find(toGpu);
  Path path;
  if (from == graph_->gpus.end() || to == graph_->gpus.end() || fromGpu == toGpu) return path;
  std::map<Edge, double> weights;
  for (const Edge& edge : boost::make_iterator_range(boost::edges(g))) weights[edge] = 1 + 1e6 / g[edge].rate;
  std::vector<Vertex> parent(boost::num_vertices(g));
  boost::dijkstra_shortest_paths(
      g, from->second,
      boost::predecessor_map(
          boost::make_iterator_property_map(parent.begin(), boost::get(boost::vertex_index, g)))
          .weight_map(boost::make_assoc_property_map(weights)));
  if (parent[to->second] == to->second) return path;
  for (Vertex v = to->second; v != from->second; v = parent[v]) {
    const EdgeInfo& edge = g[boost::edge(parent[v], v, g).first];
    path.hops.push_back({g[parent[v]].name, g[v].name, edge.link, edge.rate});
  }
  std::reverse(path.hops.begin(), path.hops.end());
  return path;
}

core::Result<std::string> describeTopology(const ClusterHardware& c, std::int64_t gpus) {
  const auto summary = summarizeTopology(c, gpus);
  if (!summary) return tl::unexpected<core::Error>(summary.error());
  std::string out = fmt::format("{}: {} GPUs in {} nodes, {}\n", c.preset, core::formatCount(gpus),
                                core::formatCount(summary->nodes),
                                c.fabric == FabricKind::railOptimized ? "rail-optimized" : "two-level Clos");
  out += fmt::format("{:16} {:>10} {:>11} {:>9}  {:>13}  {}\n", "tier", "count", "links down", "links up",
                     "per link", "");
  for (const TopologyTier& tier : summary->tiers) {
    out += fmt::format("{:16} {:>10} {:>11} {:>9}  {:>13}  {}\n", tier.name, core::formatCount(tier.count),
                       tier.linksDown, tier.linksUp, gigabytes(tier.linkBytesPerSecond), tier.note);
  }
  out += fmt::format("NICs of a node {} ({}), oversubscription {:g}:1, bisection {}\n",
                     gigabytes(summary->nodeBytesPerSecond), gigabits(summary->nodeBytesPerSecond),
                     summary->oversubscription, gigabytes(summary->bisectionBytesPerSecond));
  std::vector<std::int64_t> targets;
  for (const std::int64_t target : {std::int64_t{1}, std::int64_t{c.gpusPerNode}, gpus - 1}) {
    if (target > 0 && target < gpus && std::find(targets.begin(), targets.end(), target) == targets.end()) {
      targets.push_back(target);
    }
  }
  for (const std::int64_t target : targets) {
    const Path path = Topology::ofNodes(c, summary->nodes, {0, target / c.gpusPerNode}).path(0, target);
    out += fmt::format("path 0 -> {} ({}): gpu 0", target, gigabytes(path.bytesPerSecond()));
    for (const PathHop& hop : path.hops)
      out += fmt::format(" -[{} {}]- {}", hop.link, gigabytes(hop.bytesPerSecond), hop.to);
    out += '\n';
  }
  return out;
}

}  // namespace vsim::sim
