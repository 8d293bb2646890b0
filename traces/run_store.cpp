#include "traces/run_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/report/json.h"
#include "traces/log_codec.h"
#include "traces/sqlite.h"
#include "traces/store_schema.h"

namespace vsim::traces {
namespace {

constexpr int kBusyMilliseconds = 10'000;

tl::unexpected<core::Error> failedAt(const std::string& path, std::string message, std::string hint = {}) {
  core::Error error;
  error.file = path;
  error.message = std::move(message);
  error.hint = std::move(hint);
  return tl::unexpected(std::move(error));
}

/// Whether the file holds something and that is no SQLite database. SQLite itself takes files shorter than
/// its header for empty ones and would overwrite them.
bool isForeign(const std::string& path) {
  constexpr std::string_view kHeader("SQLite format 3\0", 16);
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  char start[kHeader.size()];
  const std::size_t size = std::fread(start, 1, sizeof start, file);
  std::fclose(file);
  return size != 0 && std::string_view(start, size) != kHeader;
}

/// "path" as an SQLite URI with all special characters escaped.
std::string uri(const std::string& path, const char* query) {
  std::string result = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#')
      result += fmt::format("%{:02X}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result + query;
}

/// Write-ahead logging, asked for until nobody else holds the file: SQLite answers "busy" at once here,
/// without its busy handler, when two processes make the change together.
int useWriteAheadLog(sqlite3* database) {
  int status = SQLITE_BUSY;
  for (int attempt = 0; attempt < 500 && (status & 0xff) == SQLITE_BUSY; ++attempt) {
    if (attempt > 0) sqlite3_sleep(20);
    Statement mode(database, "PRAGMA journal_mode = WAL");
    status = mode.step();
  }
  return status == SQLITE_ROW ? SQLITE_OK : status;
}

int execute(sqlite3* database, const char* sql) {
  return sqlite3_exec(database, sql, nullptr, nullptr, nullptr);
}

int insertRun(sqlite3* database, const RunRecord& run, const std::string& reports) {
  Statement insert(database,
                   "INSERT INTO runs (created, scenario, scenario_text, configuration, command, reports, "
                   "verdict) VALUES (?, ?, ?, ?, ?, ?, ?)");
  insert.bind(run.createdSeconds).bind(run.scenario).bind(run.scenarioText);
  return insert.bind(run.configuration).bind(run.command).bind(reports).bind(run.verdict).step();
}

int insertReport(sqlite3* database, std::int64_t id, std::int64_t position, const core::RunReport& report) {
  Statement insert(database,
                   "INSERT INTO reports (run, position, system, gpus, completed, step_time_s, tokens_per_s, "
                   "mfu, fits, exposed_s, peak_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(id).bind(position).bind(report.facts.system).bind(report.facts.gpus);
  insert.bind(std::int64_t{report.completed}).bind(report.stepSeconds).bind(report.tokensPerSecond);
  insert.bind(report.mfu).bind(std::int64_t{report.fits});
  return insert.bind(report.exposedCommSeconds).bind(report.peakAllocated).step();
}

int insertLog(sqlite3* database, std::int64_t id, std::int64_t position, const std::string& log) {
  Statement insert(database, "INSERT INTO logs (run, position, log) VALUES (?, ?, ?)");
  return insert.bind(id).bind(position).bindBlob(log).step();
}

int insertProfile(sqlite3* database, std::int64_t id, const StoredProfile& profile) {
  Statement insert(database,
                   "INSERT INTO profiles (run, executor, device, ranks, profile) VALUES (?, ?, ?, ?, ?)");
  insert.bind(id).bind(profile.executor).bind(profile.device).bind(profile.ranks);
  return insert.bind(profile.text).step();
}

/// All rows of one run; the caller holds the transaction.
int insertAll(sqlite3* database, const RunRecord& run, const std::string& reports,
              const std::vector<std::string>& logs, std::int64_t& id) {
  int status = insertRun(database, run, reports);
  if (status != SQLITE_DONE) return status;
  id = sqlite3_last_insert_rowid(database);
  for (std::size_t i = 0; i < run.reports.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i);
    status = insertReport(database, id, position, run.reports[i]);
    if (status == SQLITE_DONE && i < logs.size() && !logs[i].empty())
      status = insertLog(database, id, position, logs[i]);
    if (status != SQLITE_DONE) return status;
  }
  if (run.profile) status = insertProfile(database, id, *run.profile);
  return status == SQLITE_DONE ? SQLITE_OK : status;
}

}  // namespace

void RunStore::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

core::Result<RunStore> RunStore::open(const std::string& path, Access access) {
  const bool writes = access == Access::readWrite;
  std::error_code problem;
  if (writes) {
    const auto folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, problem);
    if (problem) return failedAt(path, "the folder of the run store cannot be made: " + problem.message());
  } else if (!std::filesystem::exists(path, problem)) {
    return failedAt(path, "there is no run store", "`vsim run` makes it");
  }
  if (std::filesystem::is_directory(path, problem)) return failedAt(path, "is a folder, not a run store");
  if (isForeign(path)) return tl::unexpected(databaseError(nullptr, path, SQLITE_NOTADB));

  RunStore store(path);
  // A reader, too, writes the log's index beside the file; where it may not, the file cannot be changing.
  const auto parent = std::filesystem::absolute(path, problem).parent_path();
  const bool frozen = !writes && ::access(parent.c_str(), W_OK) != 0;
  const int flags = writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  sqlite3* database = nullptr;
  const int opened = sqlite3_open_v2(uri(path, frozen ? "?immutable=1" : "").c_str(), &database,
                                     flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  store.database_.reset(database);
  if (opened != SQLITE_OK) return tl::unexpected(databaseError(database, path, opened));
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  if (!writes) {
    const auto outdated = isOutdated(database, path);
    if (outdated && *outdated && !frozen && ::access(path.c_str(), W_OK) == 0) {
      store.database_.reset();
      if (auto updated = open(path, Access::readWrite); !updated) return tl::unexpected(updated.error());
      return open(path, access);
    }
    if (auto checked = checkStore(database, path); !checked) return tl::unexpected(checked.error());
    return store;
  }
  // Whose file it is, is found out before anything in it is changed.
  if (auto ready = migrateStore(database, path); !ready) return tl::unexpected(ready.error());
  int status = useWriteAheadLog(database);
  if (status == SQLITE_OK)
    status = execute(database, "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
  if (status != SQLITE_OK) return tl::unexpected(databaseError(database, path, status));
  return store;
}

core::Result<std::int64_t> RunStore::save(const RunRecord& run) {
  const std::string reports = core::toCompleteJson(run.reports);
  std::vector<std::string> logs;
  for (const core::ExecutionLog* log : run.logs)
    logs.push_back(log == nullptr ? std::string() : encodeLog(*log));

  sqlite3* const database = database_.get();
  std::int64_t id = 0;
  int status = execute(database, "BEGIN IMMEDIATE");
  if (status != SQLITE_OK) return tl::unexpected(databaseError(database, path_, status));
  status = insertAll(database, run, reports, logs, id);
  if (status == SQLITE_OK) status = execute(database, "COMMIT");
  if (status == SQLITE_OK) return id;
  const core::Error error = databaseError(database, path_, status);
  execute(database, "ROLLBACK");
  return tl::unexpected(error);
}

core::Result<std::vector<RunSummary>> RunStore::list(std::int64_t limit) {
  Statement select(database_.get(),
                   "SELECT r.id, r.created, r.scenario, coalesce(p.system, c.executor), "
                   "coalesce(p.gpus, c.ranks), p.completed, p.step_time_s, p.tokens_per_s, p.mfu, p.fits, "
                   "p.run IS NULL, coalesce(p.position, 0), p.exposed_s, p.peak_bytes, "
                   "coalesce(r.tags, ''), coalesce(r.note, ''), coalesce(r.pinned, 0), r.configuration "
                   "FROM (SELECT id, created, scenario, configuration, tags, note, pinned FROM runs "
                   "LEFT JOIN marks ON run = id WHERE deleted IS NULL ORDER BY id DESC LIMIT ?) AS r "
                   "LEFT JOIN reports AS p ON p.run = r.id LEFT JOIN profiles AS c ON c.run = r.id "
                   "WHERE p.run IS NOT NULL OR c.run IS NOT NULL ORDER BY r.id DESC, p.position");
  select.bind(limit);
  std::vector<RunSummary> result;
  int status = SQLITE_OK;
  while ((status = select.step()) == SQLITE_ROW) {
    RunSummary& row = result.emplace_back();
    row.id = select.integer(0);
    row.createdSeconds = select.integer(1);
    row.scenario = select.text(2);
    row.system = select.text(3);
    row.gpus = select.integer(4);
    row.completed = select.integer(5) != 0;
    row.stepSeconds = select.real(6);
    row.tokensPerSecond = select.real(7);
    row.mfu = select.real(8);
    row.fits = select.integer(9) != 0;
    row.calibration = select.integer(10) != 0;
    row.position = select.integer(11);
    row.exposedSeconds = select.real(12);
    row.peakBytes = select.integer(13);
    row.tags = select.text(14);
    row.note = select.text(15);
    row.pinned = select.integer(16) != 0;
    row.configuration = select.text(17);
  }
  if (status != SQLITE_DONE) return tl::unexpected(databaseError(database_.get(), path_, status));
  return result;
}

core::Result<std::int64_t> RunStore::newest() {
  Statement select(database_.get(),
                   "SELECT coalesce(max(id), 0) FROM runs LEFT JOIN marks ON run = id WHERE deleted IS NULL");
  const int status = select.step();
  if (status != SQLITE_ROW) return tl::unexpected(databaseError(database_.get(), path_, status));
  return select.integer(0);
}

core::Result<StoredRun> RunStore::load(std::int64_t id) {
  Statement select(
      database_.get(),
      "SELECT created, scenario, scenario_text, configuration, command, reports, verdict FROM runs "
      "LEFT JOIN marks ON run = id WHERE id = ? AND deleted IS NULL");
  const int status = select.bind(id).step();
  if (status == SQLITE_DONE)
    return failedAt(path_, fmt::format("there is no run {}", id), "`vsim runs` lists them");
  if (status != SQLITE_ROW) return tl::unexpected(databaseError(database_.get(), path_, status));
  StoredRun run;
  run.id = id;
  run.createdSeconds = select.integer(0);
  run.scenario = select.text(1);
  run.scenarioText = select.text(2);
  run.configuration = select.text(3);
  run.command = select.text(4);
  auto reports = core::reportsFromJson(select.text(5));
  if (!reports) return failedAt(path_, reports.error().message);
  run.reports = std::move(*reports);
  run.verdict = select.text(6);
  Statement profile(database_.get(), "SELECT executor, device, ranks, profile FROM profiles WHERE run = ?");
  const int found = profile.bind(id).step();
  if (found == SQLITE_ROW)
    run.profile = {.executor = profile.text(0),
                   .device = profile.text(1),
                   .ranks = profile.integer(2),
                   .text = profile.text(3)};
  else if (found != SQLITE_DONE)
    return tl::unexpected(databaseError(database_.get(), path_, found));
  return run;
}

core::Result<core::ExecutionLog> RunStore::loadLog(std::int64_t id, std::int64_t position) {
  Statement select(database_.get(), "SELECT log FROM logs WHERE run = ? AND position = ?");
  const int status = select.bind(id).bind(position).step();
  if (status == SQLITE_DONE) return failedAt(path_, fmt::format("no log is kept of run {}", id));
  if (status != SQLITE_ROW) return tl::unexpected(databaseError(database_.get(), path_, status));
  auto log = decodeLog(select.blob(0));
  if (!log) return failedAt(path_, fmt::format("run {}: {}", id, log.error().message));
  return log;
}

core::Result<void> RunStore::saveLevels(std::int64_t id, std::int64_t position, std::string_view bytes) {
  Statement insert(database_.get(),
                   "INSERT OR REPLACE INTO levels (run, position, log_bytes, levels) "
                   "SELECT run, position, length(log), ?3 FROM logs WHERE run = ?1 AND position = ?2");
  const int status = insert.bind(id).bind(position).bindBlob(bytes).step();
  if (status != SQLITE_DONE) return tl::unexpected(databaseError(database_.get(), path_, status));
  if (sqlite3_changes(database_.get()) == 0)
    return failedAt(path_, fmt::format("no log is kept of run {}", id));
  return {};
}

core::Result<std::string> RunStore::loadLevels(std::int64_t id, std::int64_t position) {
  // The log's length is read without the log itself.
  Statement select(
      database_.get(),
      "SELECT levels FROM levels AS l JOIN logs AS g ON g.run = l.run AND g.position = l.position "
      "WHERE l.run = ? AND l.position = ? AND l.log_bytes = length(g.log)");
  const int status = select.bind(id).bind(position).step();
  if (status == SQLITE_DONE) return std::string();
  if (status != SQLITE_ROW) return tl::unexpected(databaseError(database_.get(), path_, status));
  return std::string(select.blob(0));
}

core::Result<std::string> defaultStorePath() {
  const char* data = std::getenv("XDG_DATA_HOME");
  // The specification has relative paths ignored.
  if (data != nullptr && data[0] == '/') return std::string(data) + "/vsim/runs.sqlite";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] != '\0') return std::string(home) + "/.local/share/vsim/runs.sqlite";
  return core::fail("neither XDG_DATA_HOME nor HOME is set", "name a file with --db");
}

}  // namespace vsim::traces
