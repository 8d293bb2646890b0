#include "sim/compute/grouped_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vsim::sim {
namespace {

constexpr std::array<double, 3> kTileRows{64, 128, 256};

void addGroup(GroupedRows& spread, double rows, double count) {
  if (!(rows > 0 && count > 0)) return;
  spread.rows += rows * count;
  spread.groups += count;
  for (std::size_t i = 0; i < kTileRows.size(); ++i)
    spread.tiles[i] += std::ceil(rows / kTileRows[i]) * count;
}

double productSeconds(const GroupedRows& spread, double n, double k, double operandBytes,
                      const Device& device, const GroupedParameters& p, double ratePerSm) {
  struct Tile {
    std::size_t rows;
    double n, efficiency;
  };
  const std::array<Tile, 5> tiles{
      {{2, 128, 1}, {1, 256, 1}, {1, 128, p.tile128x128}, {0, 256, p.tile64}, {0, 128, p.tile64}}};
  double work = std::numeric_limits<double>::max();
  for (const Tile& tile : tiles) {
    const double waves =
        mixedWaves(spread.tiles[tile.rows] * std::ceil(n / tile.n) / device.sms, p.waveRounding);
    work = std::min(work, waves * 2 * kTileRows[tile.rows] * tile.n * (k + p.kOverhead) / tile.efficiency);
  }
  const double weights = spread.groups * n * k * operandBytes / (p.hbmEfficiency * device.bandwidth);
  return fourthPowerSum(work / ratePerSm, weights);
}

}  // namespace

GroupedRows GroupedRows::balanced(std::int64_t rows, std::int64_t groups) {
  GroupedRows spread;
  if (rows <= 0 || groups <= 0) return spread;
  const std::int64_t larger = rows % groups;
  addGroup(spread, static_cast<double>(rows / groups), static_cast<double>(groups - larger));
  addGroup(spread, static_cast<double>(rows / groups + 1), static_cast<double>(larger));
  return spread;
}

GroupedRows GroupedRows::powerLaw(std::int64_t rows, std::int64_t groups, std::int64_t tokens,
                                  double exponent) {
  GroupedRows spread;
  if (rows <= 0 || groups <= 0) return spread;
  const double power = 1 - exponent;
  const double top = std::pow(std::max(2.0, 0.8 * static_cast<double>(tokens)), power);
  // Groups beyond 4096 are treated as copies of 4096 quantiles.
  const std::int64_t quantiles = std::min<std::int64_t>(groups, 4096);
  std::vector<double> shares(static_cast<std::size_t>(quantiles));
  double sum = 0;
  for (std::int64_t i = 0; i < quantiles; ++i) {
    const double u = (static_cast<double>(i) + 0.5) / static_cast<double>(quantiles);
    shares[static_cast<std::size_t>(i)] = std::pow((top - 1) * u + 1, 1 / power);
    sum += shares[static_cast<std::size_t>(i)];
  }
  const double copies = static_cast<double>(groups) / static_cast<double>(quantiles);
  for (const double share : shares)
    addGroup(spread, std::round(share / sum / copies * static_cast<double>(rows)), copies);
  return spread;
}

double groupedFlops(const GroupedShape& s) { return (s.wholeLayer ? 6 : 2) * s.spread.rows * s.n * s.k; }

double groupedSeconds(const GroupedShape& s, const Device& device, const GroupedParameters& p, double rate) {
  const double floor = (s.wholeLayer ? p.fusedFloorUs : p.floorUs) * 1e-6;
  if (!(s.spread.rows > 0 && s.n > 0 && s.k > 0)) return floor;
  const double flops = groupedFlops(s);
  const double ratePerSm = device.peak / device.sms * p.efficiency * rate / powerDroop(p.powerDroop, flops);
  const double rows = s.spread.rows;
  double time = floor;
  if (s.wholeLayer) {
    time += productSeconds(s.spread, 2 * s.n, s.k, s.operandBytes, device, p, ratePerSm);
    time += productSeconds(s.spread, s.k, s.n, s.operandBytes, device, p, ratePerSm);
    // Activations stay bf16 between the products whatever the operands are.
    const double moved = 2 * (rows * (2 * s.k + 3 * s.n) + s.tokens * s.k);
    time += (p.permutePasses + p.quantizePasses) * moved / device.bandwidth;
  } else {
    time += productSeconds(s.spread, s.n, s.k, s.operandBytes, device, p, ratePerSm);
    time += p.quantizePasses * 3 * rows * s.k / device.bandwidth;
  }
  return std::max(time, flops / device.peak);
}

}  // namespace vsim::sim
