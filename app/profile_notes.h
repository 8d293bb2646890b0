#pragma once

#include <string>
#include <vector>

#include "app/cost_table.h"
#include "core/program/execution_log.h"
#include "core/scenario/scenario.h"

namespace vsim::app {

/// What a prediction's reader should know about the profile behind it: that it was measured on other hardware
/// or with another share of the work, and how much of the log's last step are collectives across levels that
/// it has not measured. Empty without a profile.
std::vector<std::string> profileNotes(const core::Scenario& scenario, const CostModels& models,
                                      const core::ExecutionLog& log);

}  // namespace vsim::app
