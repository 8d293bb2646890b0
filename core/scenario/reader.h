#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/scenario.h"

namespace vsim::core {

struct ReadOptions {
  std::vector<std::pair<std::string, std::string>> overrides;  // --set key=value, dotted keys
  std::vector<std::string> searchFolders;   // where bundled scenarios and profiles are looked up
  std::vector<std::string> clusterPresets;  // known names (the catalogue lives in sim/cluster)
};

/// Finds the file that `nameOrPath` means: the path itself, else its file name (with or without .yaml) among
/// the scenarios in the search folders.
Result<std::string> findScenario(const std::string& nameOrPath, const ReadOptions& options);

/// Reads and validates a scenario. Every problem is reported, each with file:line:column and a suggestion.
ResultAll<Scenario> readScenario(const std::string& path, const ReadOptions& options);
ResultAll<Scenario> parseScenario(std::string_view text, const std::string& path, const ReadOptions& options);

/// One scenario per point of the sweep (cartesian product, first key slowest); the scenario itself without
/// one.
ResultAll<std::vector<Scenario>> readSweep(const std::string& path, const ReadOptions& options);
ResultAll<std::vector<Scenario>> parseSweep(std::string_view text, const std::string& path,
                                            const ReadOptions& options);

/// "128M" -> 128000000, "4Ki" -> 4096. Errors: no whole number, an unknown unit, more than 64 bits.
Result<std::int64_t> parseCount(std::string_view text);

}  // namespace vsim::core
