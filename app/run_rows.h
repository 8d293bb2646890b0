#pragma once

#include <map>
#include <string>

#include "app/csv_table.h"
#include "core/profile/hardware.h"
#include "core/scenario/scenario.h"

namespace vsim::app {

/// One row of a table of training runs, by column.
using RunRow = std::map<std::string, std::string>;

/// A published run as a scenario, with what the cluster preset does not say.
struct PublishedRun {
  core::Scenario scenario;
  core::ClusterHardware cluster;
  double tokensPerSecondPerGpu = 0;
};

/// Fails with the reason why a row cannot be simulated: a field that is not stated, a GPU or parallelism that
/// vsim does not have.
core::Result<PublishedRun> publishedRun(const RunRow& row);

}  // namespace vsim::app
