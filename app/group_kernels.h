#pragma once

#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/program/step_program.h"

namespace vsim::app {

/// Programs whose kernels that move data (copies between shards and tensors, casts, the optimizer) stand for
/// those of any model: models of one layer, from small to large, trained by every system on so many ranks.
/// The sizes are near enough to each other that what lies between them is scaled by its bytes.
[[nodiscard]] core::ResultAll<std::vector<std::shared_ptr<const core::StepProgram>>> groupKernelPrograms(
    int ranks);

}  // namespace vsim::app
