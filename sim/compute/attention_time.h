#pragma once

#include "sim/compute/gemm_time.h"

namespace vsim::sim {

enum class Direction { forward, backward };

/// Fused (flash) attention.
struct AttentionShape {
  Direction direction = Direction::forward;
  double batch = 1, heads = 1, kvHeads = 1;
  double queries = 0, keys = 0;  // lengths
  double headDim = 128, headDimValue = 128;
  double window = 0;  // keys that a query sees at most; 0: all
  bool causal = true;
  bool deterministic = false;
  double elementBytes = 2;
};

/// FLOP that the mask leaves: 2 b h A (d + dv) forward, 2 b h A (3d + 2dv) backward, A the area under the
/// mask.
double attentionFlops(const AttentionShape& shape);

/// Seconds of fused attention. Tiles of 128 rows (queries forward, keys backward) walk over blocks of 128; a
/// block costs 2 * 128 * 128 * (D + softmaxCost) at the rate of one SM, D = d + dv forward and 3d + 2dv
/// backward. Waves of tiles as in gemmSeconds, never shorter than the longest tile; HBM traffic (backward 2.5
/// times forward) and the floor are added. `rate` multiplies the rate (class of the library).
double attentionSeconds(const AttentionShape& shape, const Device& device, const AttentionParameters& p,
                        double rate);

}  // namespace vsim::sim
