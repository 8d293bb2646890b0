#pragma once

#include <functional>

#include "app/failure.h"
#include "gpu/machine.h"

namespace vsim::app {

/// Does `work` on the leading process alone and gives its outcome to all: each gets the same failure.
/// Collective.
Outcome<void> shareOutcome(gpu::Machine& machine, const std::function<Outcome<void>()>& work);

}  // namespace vsim::app
