#pragma once

#include "core/base/operation.h"
#include "core/profile/cost.h"
#include "core/profile/hardware.h"

namespace vsim::sim {

/// Time of all launches of `operation` on a processor: its arithmetic at the peak for its data type or its
/// bytes at the memory bandwidth, whichever takes longer, of the share `scale` of the work. Both rates are
/// those that kernels reached when the processor was measured. Provenance: modelled.
core::Cost processorCost(const core::Operation& operation, const core::GpuSpec& processor, double scale);

}  // namespace vsim::sim
