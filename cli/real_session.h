#pragma once

#include <functional>
#include <string>

#include "app/machine.h"

namespace vsim::cli {

/// What a command on real hardware has read, in this process.
struct RealInput {
  core::Errors errors;  // why it cannot go on
  std::string what;     // plural, names the text in errors: "scenarios and options"
  std::string text;     // must be the same in all processes
  app::MachineOptions machine;
};

/// Joins the job, makes sure that all processes have read the same, opens the machine and does `work`, which
/// answers the leader's exit code. Every process ends with that code, or with the failure's; the failure is
/// printed once: by the leading process, or by the others when it is gone. `read` and `work` are called once.
[[nodiscard]] int withMachine(double timeoutSeconds, const std::function<RealInput()>& read,
                              const std::function<app::Outcome<int>(gpu::Machine&)>& work);

/// Whether this process is one that only the leading process speaks for, as far as the environment says.
[[nodiscard]] bool followsAnother();

}  // namespace vsim::cli
