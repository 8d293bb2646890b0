#include "sim/compute/processor_time.h"

#include <algorithm>

namespace vsim::sim {
namespace {

/// Products of odd shapes and kernels out of the cache reach between half and all of the measured best.
constexpr double kRelativeError = 0.5;

}  // namespace

core::Cost processorCost(const core::Operation& operation, const core::GpuSpec& processor, double scale) {
  const double peak = processor.peak(operation.dtype);
  const auto flops = static_cast<double>(operation.causal && operation.causalFlops > 0 ? operation.causalFlops
                                                                                       : operation.flops);
  const auto bytes = static_cast<double>(operation.bytesRead + operation.bytesWritten);
  const bool arithmetic = operation.kind != core::OpKind::memory && peak > 0;
  const double seconds = std::max(arithmetic ? flops / peak : 0,
                                  processor.hbmBytesPerSecond > 0 ? bytes / processor.hbmBytesPerSecond : 0);
  core::Cost cost;
  cost.time = core::picosecondsFromSeconds(seconds * scale);
  cost.slowdown = 1;
  cost.relativeError = kRelativeError;
  return cost;
}

}  // namespace vsim::sim
