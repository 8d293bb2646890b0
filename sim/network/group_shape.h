#pragma once

#include "core/base/collective.h"
#include "core/profile/hardware.h"

namespace vsim::sim {

/// Where the ranks of a communicator sit. A domain is what NVLink or PCIe joins without a NIC: the node, or
/// the rack of a rack-scale system (NCCL counts such a rack as one node). Rates are bytes/s, one direction.
struct GroupShape {
  int ranks = 1;
  int ranksPerDomain = 1;  // of the fullest domain
  int domains = 1;
  double localBytesPerSecond = 0;  // one GPU to the others of its domain; 0: it has none in the group
  bool nvlink = false;             // the local link is NVLink, not PCIe
  /// All the group's ranks of one domain together. In a job every GPU runs the same collective in a group of
  /// its own at the same time, so a group has its ranks' share of the domain's NICs and no more.
  double nicBytesPerSecond = 0;
  bool railOnly = false;      // one rank per domain at the same place: traffic stays on one rail
  bool crossesSpine = false;  // more nodes than one leaf layer joins
  [[nodiscard]] bool acrossDomains() const { return domains > 1; }
};

/// Shape of the group that holds rank 0. Sizes and strides below 1 count as 1.
GroupShape groupShape(const core::ClusterHardware& cluster, const core::CommGroup& group);

}  // namespace vsim::sim
