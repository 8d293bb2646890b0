#pragma once

#include <string>
#include <vector>

#include "app/run.h"
#include "core/base/error.h"

namespace CLI {
class App;
}

namespace vsim::cli {

/// The arguments that all commands on a scenario share: its name and --set.
struct ScenarioOptions {
  std::string scenario;
  std::vector<std::string> settings;

  void addTo(CLI::App& command);
  /// Errors: a --set without "=" or without a key.
  [[nodiscard]] core::ResultAll<app::RunOptions> resolve() const;
};

}  // namespace vsim::cli
