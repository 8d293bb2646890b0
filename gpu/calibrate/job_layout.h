#pragma once

#include <string>
#include <vector>

#include "core/base/collective.h"
#include "core/profile/profile.h"
#include "gpu/machine.h"

namespace vsim::gpu {

/// Where the ranks of a job sit.
struct JobLayout {
  std::vector<int> nodeOf, rackOf;  // [rank], numbered by first appearance; one rack where none is known
  int ranks = 1, nodes = 1, racks = 1;
  int ranksPerNode = 1;     // of the fullest node
  bool evenNodes = true;    // every node holds as many neighbouring ranks
  bool racksKnown = false;  // every rank names its rack
};

[[nodiscard]] JobLayout jobLayout(const MachineFacts& facts);

/// A communicator shape that a job can measure: all its instances run at the same time.
struct MeasuredGroup {
  core::CommGroup group;
  int ranksPerNode = 1;                            // members on one node, at most
  core::Locality locality = core::Locality::node;  // the widest boundary that an instance crosses
};

/// The shape's locality in the job. The group's size times stride divides the ranks.
[[nodiscard]] MeasuredGroup measuredGroup(const JobLayout& layout, const core::CommGroup& group);

/// Shapes worth measuring, the most telling first: the widest one of every boundary that the job has, then
/// one rank per node, then parts of nodes, then what lies between. Sizes and strides are powers of two or
/// those of the nodes; each size times stride divides the ranks. None for one rank.
[[nodiscard]] std::vector<MeasuredGroup> measuredGroups(const JobLayout& layout);

/// Boundaries that no group of the job crosses, and why.
struct MissingLevel {
  core::Locality level;
  std::string why;
};
[[nodiscard]] std::vector<MissingLevel> missingLevels(const JobLayout& layout);

}  // namespace vsim::gpu
