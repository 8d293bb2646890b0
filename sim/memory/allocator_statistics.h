#pragma once

#include <algorithm>
#include <cstdint>

namespace vsim::sim {

/// One quantity as torch.cuda.memory_stats() reports it: current value, its maximum, and the sums of all
/// increases (`allocated`) and decreases (`freed`).
struct Statistic {
  std::int64_t current = 0, peak = 0, allocated = 0;

  [[nodiscard]] std::int64_t freed() const { return allocated - current; }
  void increase(std::int64_t amount) {
    current += amount;
    allocated += amount;
    peak = std::max(peak, current);
  }
  void decrease(std::int64_t amount) { current -= amount; }
};

struct PoolStatistics {
  Statistic allocation, allocatedBytes;         // held by tensors: block sizes, after rounding
  Statistic active, activeBytes;                // held, or freed and waiting for events of other streams
  Statistic requestedBytes;                     // as asked for, of active blocks
  Statistic segment;                            // driver allocations; expandable ranges do not count
  Statistic reservedBytes;                      // obtained from the driver
  Statistic inactiveSplit, inactiveSplitBytes;  // free parts of split segments
};

/// Names as in torch.cuda.memory_stats().
struct AllocatorStatistics {
  PoolStatistics all, smallPool, largePool;
  Statistic oversizeAllocations, oversizeSegments;
  std::int64_t numAllocRetries = 0, numOoms = 0, numDeviceAlloc = 0, numDeviceFree = 0, numSyncAllStreams = 0,
               numOomRejections = 0;
};

}  // namespace vsim::sim
