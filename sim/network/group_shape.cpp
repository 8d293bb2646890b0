#include "sim/network/group_shape.h"

#include <algorithm>
#include <limits>

#include "core/base/checked.h"
#include "sim/cluster/cluster_catalogue.h"

namespace vsim::sim {
namespace {

/// Host bridges pass about 24 GB/s per direction on a PCIe 4.0 x16 slot and twice that on 5.0 (the base unit
/// of NCCL's topology code: 12 GB/s for Gen3 x16).
double pcieBytesPerSecond(int computeCapability) { return computeCapability >= 90 ? 48e9 : 24e9; }

}  // namespace

GroupShape groupShape(const core::ClusterHardware& cluster, const core::CommGroup& group) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  const std::int64_t ranks = std::clamp<std::int64_t>(group.size, 1, kMost);
  const std::int64_t stride = std::clamp<std::int64_t>(group.stride, 1, kMost);
  const std::int64_t domain = std::max(1, gpusPerDomain(cluster));
  const std::int64_t perDomain = std::min(ranks, core::ceilDivide(domain, stride));
  const std::int64_t span = (ranks - 1) * stride / domain + 1;  // domains between first and last rank
  const std::int64_t domains = perDomain == 1 ? ranks : span;

  GroupShape shape;
  shape.ranks = static_cast<int>(ranks);
  shape.ranksPerDomain = static_cast<int>(perDomain);
  shape.domains = static_cast<int>(std::max<std::int64_t>(1, domains));
  shape.nvlink = cluster.nvlinkDomain > 1 && cluster.gpu.nvlinkBytesPerSecond > 0;
  if (perDomain > 1) {
    if (!shape.nvlink) {
      shape.localBytesPerSecond = pcieBytesPerSecond(cluster.gpu.computeCapability);
    } else {
      // Without a switch the links go to fixed peers: only those of the group count.
      const double share = cluster.nvSwitch ? 1.0
                                            : static_cast<double>(perDomain - 1) /
                                                  static_cast<double>(std::max<std::int64_t>(1, domain - 1));
      shape.localBytesPerSecond = cluster.gpu.nvlinkBytesPerSecond * std::min(1.0, share);
    }
  }
  if (shape.domains > 1) {
    const double nodesOfDomain =
        static_cast<double>(domain) / static_cast<double>(std::max(1, cluster.gpusPerNode));
    const double nics = cluster.nicsPerNode * nodesOfDomain;
    const double share = static_cast<double>(perDomain) / static_cast<double>(domain);
    shape.nicBytesPerSecond = nics * cluster.nicBytesPerSecond * share;
    shape.railOnly = perDomain == 1 && stride % domain == 0;
    const double nodes = static_cast<double>((ranks - 1) * stride + 1) / std::max(1, cluster.gpusPerNode);
    shape.crossesSpine = cluster.nodesPerPod > 0 && nodes > cluster.nodesPerPod;
    if (shape.crossesSpine) shape.nicBytesPerSecond /= std::max(1.0, cluster.oversubscription);
  }
  return shape;
}

}  // namespace vsim::sim
