#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/program/execution_log.h"
#include "core/report/report.h"

namespace vsim::app {

struct RunOptions {
  std::string scenario{};                                        // path or name
  std::vector<std::pair<std::string, std::string>> overrides{};  // dotted key, value as written
  bool explain = false;
  bool keepLogs = false;  // RunResult::log is set
  /// In place of what the file at `scenario` holds; the file need not be there, its folder and name count.
  std::optional<std::string> text{};
  /// Asked before each system and every few thousand simulated instructions; true ends the run with the error
  /// "cancelled". May be empty.
  std::function<bool()> cancelled{};
};

/// One system at one sweep point.
struct RunResult {
  core::RunReport report;
  std::shared_ptr<const core::ExecutionLog> log;  // shared by store, trace and GUI; may be null
  std::string scenarioText;                       // the scenario file as read
  std::vector<std::string> notes;                 // ignored fields, warnings
};

/// Called with what is being done and how much of it, 0 to 1.
using Progress = std::function<void(const std::string& what, double fraction)>;

/// Simulates every system of the scenario. `progress` may be empty.
core::ResultAll<std::vector<RunResult>> run(const RunOptions& options, const Progress& progress);

/// Where scenarios and profiles are looked up besides the scenario's own folder, first wins.
std::vector<std::string> searchFolders();

}  // namespace vsim::app
