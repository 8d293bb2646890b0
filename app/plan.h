#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/planned_system.h"
#include "app/run.h"
#include "core/base/error.h"
#include "core/plan/fusion.h"

namespace vsim::app {

/// What the layouts of a model are made from.
struct PlanOptions {
  RunOptions scenario{};               // the scenario; its name is empty when `presets` are given
  std::vector<std::string> presets{};  // models without a scenario
  std::int64_t presetRows = 1;  // granularity of `presets`: blocks of so many rows; 0: element by element
  bool searchOrder = true;
  double budgetMilliseconds = 0;           // 0: the default budget, which counts work
  std::int64_t align = 0;                  // of starts and shards, in elements; 0: 16 bytes
  bool expertsApart = false;               // stacked experts as one tensor each
  std::vector<std::int64_t> groupSizes{};  // sizes of the FSDP group; empty: the scenario's
  std::vector<std::string> rules{};        // layout rules to compare; empty: the scenario's systems
};

/// Plans every scenario of the sweep, or every preset, with every group size and system. Errors: a scenario
/// that cannot be read, unknown presets or rules, group sizes that the scenario's expert or tensor
/// parallelism does not divide, sizes that cannot be planned.
core::ResultAll<std::vector<PlannedSystem>> makePlans(const PlanOptions& options);

/// Neighbouring equal layers of one scenario, and how many of them to put into one bucket.
struct FusionPlan {
  std::string scenario, model;
  std::string first, last;  // wrap units
  std::int64_t devices = 1;
  core::FusionChoice choice;
};
/// For veScale's layouts. `layersPerBucket` 0: choose. Errors: as above; more layers than there are.
core::ResultAll<std::vector<FusionPlan>> planFusion(const PlanOptions& options, std::int64_t layersPerBucket);

}  // namespace vsim::app
