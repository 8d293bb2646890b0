#pragma once

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

/// Emits the program, simulates it and makes the report. `wallSeconds` of the report stays 0: the caller
/// holds the clock. `keepLogs`: every step's slices and memory events, not only the last step's.
core::Result<Prediction> predict(const core::ModelGraph& graph, const core::Scenario& scenario,
                                 const Prepared& prepared, const CostModels& models, bool keepLogs);

}  // namespace vsim::app
