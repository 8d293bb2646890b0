#pragma once

#include <memory>

#include "core/base/error.h"
#include "core/program/execution_log.h"
#include "core/program/step_program.h"

namespace vsim::core {

/// Runs a StepProgram: in virtual time, on host threads, or on GPUs. One call runs setup once and the step
/// `steps` times.
class Executor {
 public:
  virtual ~Executor() = default;
  [[nodiscard]] virtual Result<ExecutionLog> execute(std::shared_ptr<const StepProgram> program,
                                                     int steps) = 0;
};

}  // namespace vsim::core
