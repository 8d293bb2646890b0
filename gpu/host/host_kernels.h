#pragma once

#include <cstdint>
#include <vector>

#include "gpu/data_plan.h"
#include "gpu/host/host_memory.h"

namespace vsim::gpu {

/// One launch of a kernel that moves data, with the memory that its buffers had when the host issued it.
struct KernelLaunch {
  const core::Kernel* kernel = nullptr;
  int rank = 0, step = 0, microBatch = 0;
  bool fresh = false;  // nothing has been written to the first output since it was allocated
  std::vector<HostBlock*> reads, writes;
};

/// Does what the launch's role asks for. Data of one rank only; the caller keeps the order.
void runKernel(const DataPlan& plan, std::uint64_t seed, const KernelLaunch& launch);

/// The rank's shard of a unit's parameters before the first step; padding is zero.
void fillParameters(const DataPlan& plan, std::uint64_t seed, core::Index unit, int rank, HostBlock& shard);

}  // namespace vsim::gpu
