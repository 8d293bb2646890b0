#pragma once

#include <string>
#include <vector>

#include "core/scenario/reader.h"

namespace vsim::core {

/// Where a file that a scenario names may lie, in order: an absolute path as it is; beside the scenario; in
/// traces/data of the checkout that holds the scenario; in each search folder and its scenarios/,
/// traces/data/ and data/. "" when there is none.
std::string findBeside(const std::string& name, const std::string& scenarioPath, const ReadOptions& options);

/// Names (without folder) of the files with suffix `.yaml` that findBeside() could have answered, sorted.
std::vector<std::string> candidatesBeside(const std::string& scenarioPath, const ReadOptions& options);

}  // namespace vsim::core
