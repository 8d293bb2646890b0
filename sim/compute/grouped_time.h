#pragma once

#include <array>
#include <cstdint>

#include "sim/compute/gemm_time.h"

namespace vsim::sim {

/// How rows spread over groups (tokens over experts), reduced to what the time depends on.
struct GroupedRows {
  double rows = 0;                // in all groups together
  double groups = 0;              // groups that have rows
  std::array<double, 3> tiles{};  // tiles in the row direction, of 64, 128 and 256 rows, over all groups
  /// All groups alike (rows / groups each, the remainder one more).
  static GroupedRows balanced(std::int64_t rows, std::int64_t groups);
  /// Quantiles of a power law with density x^-exponent on [1, 0.8 tokens] (all experts of a token differ, so
  /// none gets more rows than there are tokens), scaled to `rows`. An assumed reading of the routing that
  /// expert benchmarks name "power_law"; exponent 1.01 and 1.2 there.
  static GroupedRows powerLaw(std::int64_t rows, std::int64_t groups, std::int64_t tokens, double exponent);
};

/// One grouped product (rows x k by k x n, one weight per group) or a whole gated expert layer.
struct GroupedShape {
  GroupedRows spread;
  double tokens = 0;    // before top-k; whole layer only
  double n = 0, k = 0;  // whole layer: intermediate and hidden size
  double operandBytes = 2;
  bool wholeLayer = false;  // gate-up product, activation, down product, permutation
};

/// FLOP of all products.
double groupedFlops(const GroupedShape& shape);

/// Seconds: gemmSeconds' tiles counted per group, the weights of the active groups read once inside a
/// fourth-power sum; a whole layer adds permutation and activation traffic, rows (2k + 3n) + tokens k
/// elements, `permutePasses` times. `rate` multiplies the rate (library).
double groupedSeconds(const GroupedShape& shape, const Device& device, const GroupedParameters& p,
                      double rate);

}  // namespace vsim::sim
