#include "sim/compute/gemm_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace vsim::sim {

double powerDroop(double droop, double flops) { return 1 + droop * std::log10(1 + flops / 3e11); }

double mixedWaves(double x, double rounding) {
  return std::max(1.0, rounding * std::ceil(x) + (1 - rounding) * x);
}

double fourthPowerSum(double a, double b) {
  const double large = std::max(a, b), small = std::min(a, b);
  if (!(large > 0)) return 0;
  const double square = (small / large) * (small / large);
  return large * std::sqrt(std::sqrt(1 + square * square));
}

double gemmSeconds(const GemmShape& s, const Device& device, const GemmParameters& p, double rate) {
  const double floor = p.floorUs * 1e-6;
  if (!(s.m > 0 && s.n > 0 && s.k > 0 && s.batch > 0)) return floor;
  struct Tile {
    double m, n, efficiency;
  };
  const std::array<Tile, 7> tiles{{{256, 128, 1},
                                   {128, 256, 1},
                                   {128, 128, p.tile128x128},
                                   {256, 64, p.tile64x256},
                                   {64, 256, p.tile64x256},
                                   {128, 64, p.tile64x128},
                                   {64, 128, p.tile64x128}}};
  double work = std::numeric_limits<double>::max();  // FLOP that one SM does, one tile after the other
  for (const Tile& tile : tiles) {
    const double count = std::ceil(s.m / tile.m) * std::ceil(s.n / tile.n) * s.batch / device.sms;
    for (const double split : {1.0, 2.0, 4.0}) {
      const double depth = s.k / split + p.kOverhead + (split > 1 ? p.splitOverhead : 0);
      const double waves = mixedWaves(count * split, p.waveRounding);
      work = std::min(work, waves * 2 * tile.m * tile.n * depth / tile.efficiency);
    }
  }
  const double flops = 2 * s.m * s.n * s.k * s.batch;
  const double ratePerSm = device.peak / device.sms * p.efficiency * rate / powerDroop(p.powerDroop, flops);
  const double bytes = (s.operandBytes * (s.m * s.k + s.k * s.n) + s.outputBytes * s.m * s.n) * s.batch;
  double time = floor + fourthPowerSum(work / ratePerSm, bytes / (p.hbmEfficiency * device.bandwidth));
  // The fp32 buffer is read and written (6 bytes more per element than a bf16 output); 0.7 of it is seen in
  // published weight-gradient times, the rest hides behind the main loop.
  if (s.accumulatesFp32) time += 0.7 * 6 * s.m * s.n * s.batch / device.bandwidth;
  if (s.quantizesInput)
    time += p.quantizeFloorUs * 1e-6 + p.quantizePasses * 3 * s.m * s.k * s.batch / device.bandwidth;
  if (s.hostBound) time = std::max(time, p.hostFloorUs * 1e-6);
  return std::max(time, flops / device.peak);
}

}  // namespace vsim::sim
