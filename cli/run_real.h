#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/real_options.h"
#include "cli/scenario_options.h"
#include "cli/store.h"

namespace vsim::cli {

/// Options of `vsim run` that only --real has.
struct RealRunOptions {
  RealOptions real;
  std::string profile, saveProfile;
  int steps = 0, warmup = -1;  // 0 and -1: the scenario's
  double maxError = 0;         // 0: no gate

  void addTo(CLI::App& command);
  /// Those that were given: they are refused without --real.
  [[nodiscard]] static std::vector<std::string> given(const CLI::App& command);
};

/// What `vsim run` has for both ways of running.
struct RunOutput {
  std::string json, trace;
  StoreOptions store;
};

/// `vsim run SCENARIO --real`. Answers the exit code.
[[nodiscard]] int runReal(const ScenarioOptions& scenario, const RealRunOptions& options,
                          const RunOutput& output, const Call& call);

}  // namespace vsim::cli
