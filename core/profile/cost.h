#pragma once

#include <vector>

#include "core/base/provenance.h"
#include "core/base/units.h"

namespace vsim::core {

/// Time of one kernel or collective when nothing else runs, and what it takes from others while it runs.
struct Cost {
  Picoseconds time = 0;
  /// Compute kernels on other streams run (1 + slowdown) times longer while this one is active: share of SMs
  /// taken plus share of HBM bandwidth taken. 0: takes nothing.
  double slowdown = 0;
  /// Collectives: while compute kernels run on other streams it takes (1 + stretch) times as long.
  double stretch = 0;
  Provenance provenance = Provenance::modelled;
  /// Standard error of `time` as a fraction, from the fit or the model's known accuracy.
  double relativeError = 0;
};

/// Costs of everything a StepProgram launches: same indices as its operations and collectives.
struct CostTable {
  std::vector<Cost> operations;
  std::vector<Cost> collectives;
  Picoseconds launch = 0;          // host time per kernel or collective launch
  Picoseconds hostCall = 0;        // host time per event, wait or allocation served from the cache
  Picoseconds driverAllocate = 0;  // host time of one cudaMalloc
};

}  // namespace vsim::core
