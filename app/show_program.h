#pragma once

#include <string>

#include "app/run.h"
#include "core/base/error.h"

namespace vsim::app {

/// The StepProgram of one rank, readable. `system` empty: the scenario's first.
core::ResultAll<std::string> programText(const RunOptions& options, const std::string& system);

}  // namespace vsim::app
