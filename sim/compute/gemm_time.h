#pragma once

#include "sim/compute/kernel_parameters.h"

namespace vsim::sim {

/// What a kernel runs on: the rates that count for one number format.
struct Device {
  double peak = 0;       // FLOP/s of the operands' format, dense
  double bandwidth = 0;  // HBM bytes/s
  double sms = 0;
  /// Tensor peak per SM relative to the full chip of its generation: below 1 where a product has its tensor
  /// cores slowed down but not the rest of the SM (H20).
  double tensorShare = 1;
};

/// `batch` products of m x k by k x n.
struct GemmShape {
  double m = 0, n = 0, k = 0, batch = 1;
  double operandBytes = 2, outputBytes = 2;  // per element
  bool accumulatesFp32 = false;              // the output is added to an fp32 buffer
  bool quantizesInput = false;  // a kernel in front converts the activations to the operands' format
  bool hostBound = false;       // launched by an eager framework, not from a graph
};

/// Seconds of a dense matrix product: the fastest of seven tile shapes and three k splits.
/// Tiles of TM x TN and a split of k in s: x = ceil(m/TM) ceil(n/TN) s / SMs waves, mixed with their ceiling
/// by `waveRounding`; a tile takes 2 TM TN (k/s + kOverhead) / (rate of an SM * tile efficiency). The rate
/// droops with log10(1 + FLOP / 3e11): boards at their power limit lower the clock on long products. Tile and
/// HBM time join as a fourth-power sum, the floor is added. Forms chosen by cross-validation on published
/// kernel times (sources in the parameter file). `rate` multiplies the rate (library or age of the software).
/// Shapes with a zero size take the floor. Never below FLOP / peak.
double gemmSeconds(const GemmShape& shape, const Device& device, const GemmParameters& p, double rate);

/// 1 + droop * log10(1 + flops / 3e11).
double powerDroop(double droop, double flops);
/// waves = max(1, q * ceil(x) + (1 - q) * x).
double mixedWaves(double x, double rounding);
/// (a^4 + b^4)^(1/4): the larger one, rounded off where both are near.
double fourthPowerSum(double a, double b);

}  // namespace vsim::sim
