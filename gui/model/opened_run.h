#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/program/execution_log.h"
#include "core/report/report.h"

namespace vsim::gui {

struct TimelineData;

/// A run as the window holds it: immutable once made, shared by all views. Where it came from decides what is
/// there: a stored run has everything that was kept, a foreign trace has slices alone (see timeline_data.h).
struct OpenedRun {
  std::string title;                                           // "run 42", "tiny.yaml", "trace.json"
  std::string source;                                          // "run 42 in /home/me/runs.sqlite"
  std::int64_t id = 0;                                         // in its store; 0: not stored
  std::string scenario, scenarioText, configuration, command;  // as RunRecord has them
  std::int64_t createdSeconds = 0;
  std::vector<core::RunReport> reports;                         // one per system and sweep point
  std::vector<std::shared_ptr<const core::ExecutionLog>> logs;  // same length; null: not kept
  std::shared_ptr<const TimelineData> imported;  // slices of a trace of another program; no reports then
  std::vector<std::string> notes;
  std::string store;  // path of the store that it is in; empty: not stored
  /// The logs are still being read: another OpenedRun with all of them takes the place of this one.
  bool loading = false;
  /// Same length as `reports`, or empty: the first picture of each timeline as it is stored
  /// (stored_levels.h), not looked into yet; empty: none.
  std::vector<std::string> levels;
};

/// Part of the time axis, half open.
struct TimeRange {
  core::Picoseconds begin = 0, end = 0;
  [[nodiscard]] core::Picoseconds length() const { return end - begin; }
  [[nodiscard]] bool empty() const { return end <= begin; }
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

}  // namespace vsim::gui
