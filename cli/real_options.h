#pragma once

#include <string>
#include <vector>

#include "app/machine.h"
#include "core/base/error.h"

namespace CLI {
class App;
}

namespace vsim::cli {

/// The options that every command on real hardware shares.
struct RealOptions {
  std::string executor = "auto", timeout = "60s", budget;
  int ranks = 0;

  /// `budget`: the default, and what is said of it in the help.
  void addTo(CLI::App& command, const std::string& budget);
  /// Names of those that were given, for commands that run without hardware.
  [[nodiscard]] static std::vector<std::string> given(const CLI::App& command);

  struct Values {
    app::MachineOptions machine;
    double budgetSeconds = 0;
  };
  /// Checked values. `command` names the command in errors.
  [[nodiscard]] core::ResultAll<Values> resolve(const std::string& command) const;
  /// All of them as text, one a line: what the processes of a job must have in common.
  [[nodiscard]] std::string text() const;
};

}  // namespace vsim::cli
