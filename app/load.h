#pragma once

#include <vector>

#include "app/run.h"
#include "core/scenario/reader.h"

namespace vsim::app {

/// How every command reads scenarios: bundled folders, the catalogue's cluster presets, --set pairs.
core::ReadOptions readOptions(const RunOptions& options);

/// The scenarios of the sweep that `options` name; one without a sweep.
core::ResultAll<std::vector<core::Scenario>> loadScenarios(const RunOptions& options);

}  // namespace vsim::app
