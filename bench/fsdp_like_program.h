#pragma once

#include <cstdint>
#include <memory>

#include "core/profile/cost.h"
#include "core/program/step_program.h"

namespace vsim::bench {

/// About 10,000 instructions with the structure of a sharded step: five streams (compute, copy-in,
/// all-gather, reduce-scatter, all-reduce), two communicators, an allocation and a release around nearly
/// every kernel.
std::shared_ptr<const core::StepProgram> fsdpLikeProgram(int layers, int kernelsPerLayer);
/// Kernels of 20 to 300 us, collectives of 1 to 3 ms; `slowdown` of the collectives.
core::CostTable fsdpLikeCosts(const core::StepProgram& program, double slowdown);

}  // namespace vsim::bench
