#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/units.h"

namespace vsim::core {

/// What an optimizer keeps and moves per local parameter. Elementwise optimizers work on the flat shard: no
/// communication, whatever the sharding.
struct OptimizerTraits {
  std::string name;
  int states = 2;                // tensors like the parameters (Adam: two moments)
  double stateBytes = 8;         // bytes of all states of one element, scales of quantisation blocks included
  bool quantisedStates = false;  // states are 8-bit with one fp32 scale per block
  std::int64_t blockElements = 0;  // elements that share a scale; 0: none
};

/// Elements that share a scale in bitsandbytes' blockwise 8-bit Adam, in the order of the flattened tensor.
inline constexpr std::int64_t kDefaultQuantisationBlock = 256;

/// "adamw", "adam8bit", "sgd". `block`: rows x columns of a quantisation block (adam8bit only; its default is
/// the 256-element block of bitsandbytes' blockwise 8-bit Adam). Fails on other names, listing the known
/// ones.
Result<OptimizerTraits> optimizerTraits(const std::string& name, const std::vector<std::int64_t>& block);

/// Kernel implementations of the same arithmetic. Fused: one pass. Foreach: one multi-tensor kernel per
/// operation of the formula. Loop: one kernel per operation and tensor.
enum class OptimizerKernel : std::uint8_t { fused, foreach, loop };

/// HBM bytes that one step moves per local parameter (fp32 parameters and gradients), and how many passes it
/// makes. AdamW fused: reads p, g, m, v and writes p, m, v = 28 B. Unfused: every multiply, lerp, addcmul,
/// sqrt, div and addcdiv of torch.optim's formula reads and writes whole tensors = 92 B.
struct OptimizerTraffic {
  double bytesReadPerElement = 16, bytesWrittenPerElement = 12;
  int passes = 1;
  /// Temporary memory alive at once, bytes per element (torch.optim foreach: one fp32 copy).
  double temporaryBytesPerElement = 0;
};
OptimizerTraffic optimizerTraffic(const OptimizerTraits& traits, OptimizerKernel kernel);

/// One AdamW step on one element, in fp32 as torch.optim.AdamW does it. `step` counts from 1.
struct AdamwParameters {
  float learningRate = 1e-3F, beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F, weightDecay = 0.01F;
};
struct AdamwState {
  float parameter = 0, exponentialAverage = 0, exponentialAverageSquare = 0;
};
AdamwState adamwStep(AdamwState state, float gradient, int step, const AdamwParameters& parameters = {});

}  // namespace vsim::core
