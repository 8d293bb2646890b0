#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/profile/hardware.h"

namespace vsim::sim {

/// One layer of the cluster, folded: all its members are alike.
struct TopologyTier {
  std::string name;  // "nodes", "leaf switches", ...
  std::int64_t count = 0;
  std::int64_t linksDown = 0;  // of one member, in use
  std::int64_t linksUp = 0;
  double linkBytesPerSecond = 0;  // one link, one direction; 0: none
  std::string note;
};

/// The cluster of `gpus` GPUs by tiers; never materialised, so its size does not matter.
struct TopologySummary {
  std::int64_t gpus = 0, nodes = 0, pods = 0;
  std::vector<TopologyTier> tiers;     // from the GPUs up
  double nodeBytesPerSecond = 0;       // all NICs of a node
  double bisectionBytesPerSecond = 0;  // between two halves of the nodes, one direction
  double oversubscription = 1;
};
core::Result<TopologySummary> summarizeTopology(const core::ClusterHardware&, std::int64_t gpus);

struct PathHop {
  std::string from, to;
  std::string link;  // "NVLink", "PCIe", "NIC", "leaf-spine"
  double bytesPerSecond = 0;
};
struct Path {
  std::vector<PathHop> hops;
  [[nodiscard]] double bytesPerSecond() const;  // of the slowest hop; 0 for a GPU to itself
};

/// The devices of some nodes and the switches between them as a graph. Immutable; copies share it.
class Topology {
 public:
  /// All nodes of a small cluster. More than 4,096 GPUs are refused: use ofNodes.
  static core::Result<Topology> whole(const core::ClusterHardware&, std::int64_t gpus);
  /// Only the nodes named (numbers in a cluster of any size) and the switches that they reach.
  static Topology ofNodes(const core::ClusterHardware&, std::int64_t clusterNodes,
                          std::vector<std::int64_t> nodes);

  [[nodiscard]] std::size_t vertexCount() const;
  [[nodiscard]] std::size_t edgeCount() const;
  /// Fewest hops, then the widest links. GPUs by their number in the cluster. On rails, traffic to another
  /// rail first crosses NVLink to the GPU beside the right NIC, as NCCL does it (PXN). Empty when a GPU is
  /// not in the graph.
  [[nodiscard]] Path path(std::int64_t fromGpu, std::int64_t toGpu) const;

 private:
  struct Graph;
  explicit Topology(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}
  std::shared_ptr<const Graph> graph_;  // shared: copies are cheap and the graph never changes
};

/// The cluster in words: tiers, rates, oversubscription, and the paths from GPU 0 to a GPU of its node, of
/// another node and of the most distant one.
core::Result<std::string> describeTopology(const core::ClusterHardware&, std::int64_t gpus);

}  // namespace vsim::sim
