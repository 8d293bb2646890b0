#pragma once

#include <string>

#include "app/run.h"
#include "core/base/error.h"

namespace vsim::app {

/// The scenario's cluster: nodes, links, fabric.
core::ResultAll<std::string> topologyText(const RunOptions& options);
/// Names of all cluster presets with what they are, one a line.
std::string clusterListText();

}  // namespace vsim::app
