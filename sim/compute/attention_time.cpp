#include "sim/compute/attention_time.h"

#include <algorithm>
#include <cmath>

namespace vsim::sim {
namespace {

constexpr double kTile = 128;

bool banded(const AttentionShape& s) { return s.window > 0 && s.window < s.keys; }

double headWork(const AttentionShape& s) {
  return s.direction == Direction::forward ? s.headDim + s.headDimValue : 3 * s.headDim + 2 * s.headDimValue;
}

/// Blocks of 128 x 128 per tile: mean and largest. Rows of the longer side beyond the mask see nothing.
struct Blocks {
  double mean, longest;
};
Blocks blocksPerTile(const AttentionShape& s, double windowOverhead) {
  const bool forward = s.direction == Direction::forward;
  const double along = std::ceil((forward ? s.keys : s.queries) / kTile);
  const double tiles = std::ceil((forward ? s.queries : s.keys) / kTile);
  // Causal masks are aligned at the end of the keys, as flash kernels do it.
  const double causalMean = s.keys >= s.queries && forward ? along - (tiles - 1) / 2 : (along + 1) / 2;
  Blocks blocks{s.causal ? std::max(1.0, causalMean) : along, along};
  if (banded(s)) {
    const double band = (s.causal ? 1.0 : 2.0) * s.window / kTile + 1 + windowOverhead;
    blocks.mean = std::min(blocks.mean, band);
    blocks.longest = std::min(blocks.longest, band);
  }
  return blocks;
}

}  // namespace

double attentionFlops(const AttentionShape& s) {
  double area = s.queries * s.keys;
  if (banded(s))
    area = std::min(s.causal ? area / 2 : area, s.queries * s.window * (s.causal ? 1.0 : 2.0));
  else if (s.causal)
    area /= 2;
  return 2 * s.batch * s.heads * area * headWork(s);
}

double attentionSeconds(const AttentionShape& s, const Device& device, const AttentionParameters& p,
                        double rate) {
  const double floor = p.floorUs * 1e-6;
  if (!(s.batch > 0 && s.heads > 0 && s.queries > 0 && s.keys > 0)) return floor;
  const bool forward = s.direction == Direction::forward;
  const double flops = attentionFlops(s);
  const double ratePerSm = device.peak / device.sms * p.efficiency * rate / powerDroop(p.powerDroop, flops);
  const double block = 2 * kTile * kTile * (headWork(s) + p.softmaxCost * device.tensorShare) / ratePerSm;
  const Blocks blocks = blocksPerTile(s, p.windowOverhead);
  const double tiles = std::ceil((forward ? s.queries : s.keys) / kTile) * s.batch * s.heads;
  const double x = tiles / device.sms;
  const double waves = p.waveRounding * std::ceil(x) + (1 - p.waveRounding) * x;
  const double prologue = p.prologue / kTile;
  const double work = std::max(waves * (blocks.mean + prologue), blocks.longest + prologue) * block;
  const double width = s.headDim + s.headDimValue;
  const double bytes =
      s.elementBytes * s.batch * width * (s.heads * s.queries + s.kvHeads * s.keys) * (forward ? 1 : 2.5);
  double time = floor + work + bytes / (p.hbmEfficiency * device.bandwidth);
  if (!forward && s.deterministic) time *= 1 + p.deterministic;
  return std::max(time, flops / device.peak);
}

}  // namespace vsim::sim
