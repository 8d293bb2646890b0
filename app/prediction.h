#pragma once

#include <functional>
#include <memory>

#include "app/cost_table.h"
#include "core/model/model_graph.h"
#include "core/report/report.h"
#include "core/train/system.h"

namespace vsim::app {

/// One system of one scenario, made ready: what does not depend on time is built once.
struct Prepared {
  core::TrainModel model;
  core::TrainOptions options;
  const core::System* system = nullptr;
  core::LayoutSet layouts;
};

/// All but the layouts.
core::Result<Prepared> prepareModel(const core::ModelGraph& graph, const core::Scenario& scenario,
                                    const core::SystemSpec& spec, const core::PlanningOptions& planning = {});
core::Result<Prepared> prepare(const core::ModelGraph& graph, const core::Scenario& scenario,
                               const core::SystemSpec& spec);

struct Prediction {
  core::RunReport report;
  std::shared_ptr<const core::ExecutionLog> log;
};

/// What a prediction keeps, and how it takes memory.
struct PredictionOptions {
  bool keepLogs = false;  // every step's slices and memory events, not only the last step's
  /// Memory of the caching allocator; else buffers count with their own bytes, as the host executor has it.
  bool cachingAllocator = true;
  int steps = 2;
  std::function<bool()> cancelled{};  // as in sim::SimulatorOptions
};

/// The step as `prepared` has it.
core::Result<std::shared_ptr<const core::StepProgram>> emitProgram(const Prepared& prepared);
/// What a report says of the run besides its log. `wallSeconds` stays 0: the caller holds the clock.
core::RunFacts runFacts(const core::ModelGraph& graph, const core::Scenario& scenario,
                        const Prepared& prepared, const core::StepProgram& program);
/// The cluster's board, and the memory that a program finds taken on it.
core::HardwareFacts hardwareFacts(const core::Scenario& scenario, const core::StepProgram& program,
                                  const CostModels& models);

/// Simulates `program` and makes the report.
core::Result<Prediction> predictProgram(const std::shared_ptr<const core::StepProgram>& program,
                                        const core::RunFacts& facts, const core::HardwareFacts& hardware,
                                        const CostModels& models, const PredictionOptions& options);

/// Emits the program, simulates it and makes the report. `keepLogs`, `cancelled` as in PredictionOptions.
core::Result<Prediction> predict(const core::ModelGraph& graph, const core::Scenario& scenario,
                                 const Prepared& prepared, const CostModels& models, bool keepLogs,
                                 const std::function<bool()>& cancelled = {});

}  // namespace vsim::app
