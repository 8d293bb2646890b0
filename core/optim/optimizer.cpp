#include "core/optim/optimizer.h"

#include <cmath>

namespace vsim::core {

Result<OptimizerTraits> optimizerTraits(const std::string& name, const std::vector<std::int64_t>& block) {
  if (name == "adamw") return OptimizerTraits{.name = name};
  if (name == "sgd") return OptimizerTraits{.name = name, .states = 1, .stateBytes = 4};
  if (name == "adam8bit") {
    std::int64_t elements = kDefaultQuantisationBlock;
    if (!block.empty()) {
      elements = 1;
      for (const std::int64_t side : block) elements *= side;
    }
    if (elements <= 0) return fail("optimizer.block must be positive");
    return OptimizerTraits{.name = name,
                           .states = 2,
                           .stateBytes = 2.0 + 2.0 * 4.0 / static_cast<double>(elements),
                           .quantisedStates = true,
                           .blockElements = elements};
  }
  return fail("unknown optimizer \"" + name + "\"", "known: adamw, adam8bit, sgd");
}

OptimizerTraffic optimizerTraffic(const OptimizerTraits& traits, OptimizerKernel kernel) {
  // Gradient and parameter read, parameter written: 12 B; each state is read and written once.
  OptimizerTraffic fused{.bytesReadPerElement = 8 + traits.stateBytes,
                         .bytesWrittenPerElement = 4 + traits.stateBytes};
  if (kernel == OptimizerKernel::fused || traits.quantisedStates) return fused;
  if (traits.name == "sgd") return {.bytesReadPerElement = 20, .bytesWrittenPerElement = 12, .passes = 2};
  return {.bytesReadPerElement = 56,
          .bytesWrittenPerElement = 36,
          .passes = 9,
          .temporaryBytesPerElement = kernel == OptimizerKernel::foreach ? 4.0 : 0.0};
}

AdamwState adamwStep(AdamwState s, float gradient, int step, const AdamwParameters& p) {
  s.parameter *= 1.0F - p.learningRate * p.weightDecay;
  s.exponentialAverage += (gradient - s.exponentialAverage) * (1.0F - p.beta1);
  s.exponentialAverageSquare = s.exponentialAverageSquare * p.beta2 + (1.0F - p.beta2) * gradient * gradient;
  const double correction1 = 1.0 - std::pow(static_cast<double>(p.beta1), step);
  const double correction2 = std::sqrt(1.0 - std::pow(static_cast<double>(p.beta2), step));
  const float stepSize = static_cast<float>(static_cast<double>(p.learningRate) / correction1);
  const float denominator =
      std::sqrt(s.exponentialAverageSquare) / static_cast<float>(correction2) + p.epsilon;
  s.parameter -= stepSize * s.exponentialAverage / denominator;
  return s;
}

}  // namespace vsim::core
