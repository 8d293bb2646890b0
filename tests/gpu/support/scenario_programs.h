#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/train/system.h"

namespace vsim::test {

/// One system's program of a scenario.
struct ScenarioProgram {
  std::string system;
  core::TrainModel model;
  core::TrainOptions options;
  std::shared_ptr<const core::StepProgram> program;
  int ranks = 1;
};

/// What every system that exists makes of a bundled scenario ("real/tiny_moe.yaml"), with the scenario's
/// options. Throws std::runtime_error with the error where there is one.
std::vector<ScenarioProgram> scenarioPrograms(const std::string& file);

}  // namespace vsim::test
