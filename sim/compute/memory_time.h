#pragma once

#include "sim/compute/gemm_time.h"

namespace vsim::sim {

/// How the kernel is timed or launched: decides the floor.
enum class FloorClass { graph, benchmark, eager };

struct MemoryShape {
  double bytes = 0;  // minimum traffic
  FloorClass floor = FloorClass::graph;
};

/// Traffic below this is taken to be partly served from the L2 cache (40 to 126 MB on the boards covered,
/// with operands of the previous kernel in it).
inline constexpr double kCachedBytes = 60e6;

/// Seconds of a kernel bound by memory: floor + bytes / (bandwidth * efficiency * rate), with the family's
/// size ramp and cache factor. `rate`: product of the memory rates that apply. Outside the cache never below
/// bytes / bandwidth.
/// `floorRate` multiplies the floor.
double memorySeconds(const MemoryShape& shape, const Device& device, const MemoryParameters& p, double rate,
                     double floorRate = 1);

}  // namespace vsim::sim
