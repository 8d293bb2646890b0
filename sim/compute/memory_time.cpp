#include "sim/compute/memory_time.h"

#include <algorithm>
#include <cmath>

namespace vsim::sim {

double memorySeconds(const MemoryShape& s, const Device& device, const MemoryParameters& p, double rate,
                     double floorRate) {
  const double floorUs = s.floor == FloorClass::graph       ? p.floorUs
                         : s.floor == FloorClass::benchmark ? p.benchmarkFloorUs
                                                            : p.eagerFloorUs;
  const double floor = floorUs * 1e-6 * floorRate;
  if (!(s.bytes > 0)) return floor;
  const double ramp = p.sizeRamp > 0 ? std::exp(-p.sizeRamp / (1 + s.bytes / 1e9)) : 1;
  const bool cached = s.bytes < kCachedBytes;
  double efficiency = p.efficiency * rate * ramp;
  if (cached)
    efficiency *= p.cacheFactor;
  else
    efficiency = std::min(efficiency, 1.0);
  return floor + s.bytes / (device.bandwidth * efficiency);
}

}  // namespace vsim::sim
