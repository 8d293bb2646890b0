#pragma once

#include <string>
#include <vector>

#include "sim/network/profiled_collectives.h"

namespace vsim::sim {

/// What `vsim collective` prints.
struct CollectiveTableRequest {
  core::CollectiveKind kind = core::CollectiveKind::allGather;
  core::CommGroup group;
  core::DType dtype = core::DType::fp32;
  std::vector<std::int64_t> sizes;  // bytes, NCCL's convention
};

/// Size, count, type, time, algorithm and bus bandwidth in nccl-tests' units (1e9 bytes/s), then what NCCL
/// would choose and where the figure comes from.
std::string collectiveTable(const ProfiledCollectives&, const CollectiveTableRequest&);

/// Sizes from `least` to `most`, each `factor` times the one before (at least 2), as nccl-tests steps them.
std::vector<std::int64_t> sizesBetween(std::int64_t least, std::int64_t most, std::int64_t factor = 2);

}  // namespace vsim::sim
