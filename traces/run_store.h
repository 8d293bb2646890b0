#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/program/execution_log.h"
#include "core/report/report.h"

struct sqlite3;

namespace vsim::traces {

/// A profile that a calibration measured, and on what.
struct StoredProfile {
  std::string executor, device;
  std::int64_t ranks = 0;
  std::string text;  // as core::readProfile reads it
};

/// One call of `vsim run` or `vsim calibrate`: what was asked and what came out.
struct RunRecord {
  std::string scenario;             // name
  std::string scenarioText;         // the file as read
  std::string configuration;        // what was set on top of it, "key=value" a line
  std::string command;              // as typed
  std::int64_t createdSeconds = 0;  // since 1970, UTC
  std::vector<core::RunReport> reports;
  /// Same order as `reports`, or empty; null: not kept. Not owned.
  std::vector<const core::ExecutionLog*> logs;
  /// Measured by the run; with no reports, the record is a calibration.
  std::optional<StoredProfile> profile{};
  std::string verdict{};  // of a real run: what was compared and what came out, as text; empty: none
};

struct StoredRun {
  std::int64_t id = 0;
  std::string scenario, scenarioText, configuration, command;
  std::int64_t createdSeconds = 0;
  std::vector<core::RunReport> reports;
  std::optional<StoredProfile> profile{};
  std::string verdict{};
};

/// One report of a run, or a calibration, for lists.
struct RunSummary {
  std::int64_t id = 0, createdSeconds = 0;
  std::string scenario, system;
  std::int64_t gpus = 0;
  double stepSeconds = 0, tokensPerSecond = 0, mfu = 0;
  bool completed = false, fits = false;
  bool calibration = false;   // `system` is then the executor, `gpus` the ranks; there are no times
  std::int64_t position = 0;  // of the report in its run
  double exposedSeconds = 0;
  core::Bytes peakBytes = 0;  // allocated, of the worst rank
  std::string configuration;  // of the run: what was set beside its scenario, one key=value a line
  std::string tags, note;     // of the run, as its user wrote them
  bool pinned = false;        // the run is the baseline
};

/// The runs of a user in one SQLite file (write-ahead log). Several processes may use it at once: a run is
/// one transaction, so that a killed process leaves the file as it was before. Not thread-safe; movable.
class RunStore {
 public:
  enum class Access { readWrite, readOnly };

  /// Opens `path`; with readWrite, makes folder and file, and brings an older schema up to date. Errors:
  /// cannot be opened, is no SQLite file, belongs to another program, comes from a later version of vsim, is
  /// locked by another process for more than 10 s.
  [[nodiscard]] static core::Result<RunStore> open(const std::string& path, Access access);

  /// Answers the new run's id.
  [[nodiscard]] core::Result<std::int64_t> save(const RunRecord& run);
  /// The newest `limit` runs' reports, newest run first.
  [[nodiscard]] core::Result<std::vector<RunSummary>> list(std::int64_t limit);
  /// Id of the newest run; 0 when there is none.
  [[nodiscard]] core::Result<std::int64_t> newest();
  [[nodiscard]] core::Result<StoredRun> load(std::int64_t id);
  /// Log of the run's report number `position`, counted from 0.
  [[nodiscard]] core::Result<core::ExecutionLog> loadLog(std::int64_t id, std::int64_t position);

  /// What a viewer worked out of that log, so that it need not do so again: bytes that the store does not
  /// look into. Whoever reads them tests them, and does without where they are of no use.
  /// Needs readWrite; takes the place of what was there. Errors: no such log, the file cannot be written.
  [[nodiscard]] core::Result<void> saveLevels(std::int64_t id, std::int64_t position, std::string_view bytes);
  /// Empty: there are none, or they were made from another log than the one that is stored.
  [[nodiscard]] core::Result<std::string> loadLevels(std::int64_t id, std::int64_t position);

  // What users say of runs; these need readWrite. Errors: no such run, the file cannot be written.
  [[nodiscard]] core::Result<void> setTags(std::int64_t id, const std::string& tags);
  [[nodiscard]] core::Result<void> setNote(std::int64_t id, const std::string& note);
  /// The baseline; 0: none. One run at most is pinned.
  [[nodiscard]] core::Result<void> pin(std::int64_t id);
  /// Deleted runs are in no list and cannot be loaded, but come back with restoreRuns() until they are
  /// purged.
  [[nodiscard]] core::Result<void> deleteRuns(const std::vector<std::int64_t>& ids, std::int64_t nowSeconds);
  [[nodiscard]] core::Result<void> restoreRuns(const std::vector<std::int64_t>& ids);
  /// What was deleted last, together; empty: nothing is waiting to be purged. Works read-only, too.
  [[nodiscard]] core::Result<std::vector<std::int64_t>> lastDeleted();
  /// Removes what was deleted before `beforeSeconds` for good.
  [[nodiscard]] core::Result<void> purge(std::int64_t beforeSeconds);

  /// Changes whenever another connection has written.
  [[nodiscard]] core::Result<std::int64_t> dataVersion();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit RunStore(std::string path) : path_(std::move(path)) {}
  /// `sql` once for each id, in one transaction.
  [[nodiscard]] core::Result<void> forEach(const std::vector<std::int64_t>& ids, const char* sql,
                                           std::int64_t value);
  [[nodiscard]] core::Result<void> setMark(std::int64_t id, const char* sql, const std::string& text);

  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
};

/// $XDG_DATA_HOME/vsim/runs.sqlite, else ~/.local/share/vsim/runs.sqlite (XDG base directory specification).
/// Error: neither variable is set.
[[nodiscard]] core::Result<std::string> defaultStorePath();

}  // namespace vsim::traces
