#include "traces/store_schema.h"

#include <array>

#include "traces/sqlite.h"

namespace vsim::traces {
namespace {

constexpr std::int64_t kApplicationId = 0x7673696d;  // "vsim", PRAGMA application_id

// Migration i leads from version i to i + 1. Never edited once released: a change is a new one.
constexpr std::array kMigrations{
    // 1: runs and their reports
    "PRAGMA application_id = 0x7673696d;"
    "CREATE TABLE runs ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  created INTEGER NOT NULL,"  // seconds since 1970, UTC
    "  scenario TEXT NOT NULL,"
    "  scenario_text TEXT NOT NULL,"
    "  configuration TEXT NOT NULL,"
    "  command TEXT NOT NULL,"
    "  reports TEXT NOT NULL);"  // core::toCompleteJson
    "CREATE TABLE reports ("     // the columns that lists show
    "  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"
    "  position INTEGER NOT NULL,"
    "  system TEXT NOT NULL,"
    "  gpus INTEGER NOT NULL,"
    "  completed INTEGER NOT NULL,"
    "  step_time_s REAL NOT NULL,"
    "  tokens_per_s REAL NOT NULL,"
    "  mfu REAL NOT NULL,"
    "  fits INTEGER NOT NULL,"
    "  PRIMARY KEY (run, position)) WITHOUT ROWID;",
    // 2: what ran and what was allocated, for viewers
    "CREATE TABLE logs ("
    "  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"
    "  position INTEGER NOT NULL,"  // of the report in its run
    "  log BLOB NOT NULL,"          // encodeLog
    "  PRIMARY KEY (run, position));",
    // 3: what was measured of the hardware; a run without reports is a calibration
    "CREATE TABLE profiles ("
    "  run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,"
    "  executor TEXT NOT NULL,"
    "  device TEXT NOT NULL,"
    "  ranks INTEGER NOT NULL,"
    "  profile TEXT NOT NULL);",  // as readProfile reads it
    // 4: what users say of runs; the columns that lists show besides
    "CREATE TABLE marks ("
    "  run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,"
    "  tags TEXT NOT NULL DEFAULT '',"
    "  note TEXT NOT NULL DEFAULT '',"
    "  pinned INTEGER NOT NULL DEFAULT 0,"  // the baseline; at most one run
    "  deleted INTEGER);"                   // when, seconds since 1970, UTC; NULL: it is not
    "ALTER TABLE reports ADD COLUMN exposed_s REAL NOT NULL DEFAULT 0;"
    "ALTER TABLE reports ADD COLUMN peak_bytes INTEGER NOT NULL DEFAULT 0;"  // allocated, worst rank
    "UPDATE reports SET"
    "  exposed_s = coalesce((SELECT json_extract(r.reports, '$.reports[' || position || '].exposed_comm_s')"
    "    FROM runs AS r WHERE r.id = run AND json_valid(r.reports)), 0),"
    "  peak_bytes = coalesce((SELECT json_extract(r.reports, '$.reports[' || position || '].peak_allocated')"
    "    FROM runs AS r WHERE r.id = run AND json_valid(r.reports)), 0);",
    // 5: how a real run was judged; what viewers worked out of a log and may work out again
    "ALTER TABLE runs ADD COLUMN verdict TEXT NOT NULL DEFAULT '';"
    "CREATE TABLE levels ("
    "  run INTEGER NOT NULL,"
    "  position INTEGER NOT NULL,"   // of the report in its run
    "  log_bytes INTEGER NOT NULL,"  // length of the log that they were made from
    "  levels BLOB NOT NULL,"        // the viewer's
    "  PRIMARY KEY (run, position),"
    "  FOREIGN KEY (run, position) REFERENCES logs(run, position) ON DELETE CASCADE);",
};

core::Result<std::int64_t> pragma(sqlite3* database, const std::string& path, const char* sql) {
  Statement statement(database, sql);
  const int status = statement.step();
  if (status != SQLITE_ROW) return tl::unexpected(databaseError(database, path, status));
  return statement.integer(0);
}

core::Result<void> execute(sqlite3* database, const std::string& path, const std::string& sql) {
  const int status = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) return tl::unexpected(databaseError(database, path, status));
  return {};
}

tl::unexpected<core::Error> refused(const std::string& path, std::string message, std::string hint) {
  core::Error error;
  error.file = path;
  error.message = std::move(message);
  error.hint = std::move(hint);
  return tl::unexpected(std::move(error));
}

/// The version of a run store; 0 for an empty database; an error for anything else.
core::Result<std::int64_t> versionOf(sqlite3* database, const std::string& path) {
  const auto application = pragma(database, path, "PRAGMA application_id");
  if (!application) return tl::unexpected(application.error());
  const auto tables = pragma(database, path, "SELECT count(*) FROM sqlite_schema");
  if (!tables) return tl::unexpected(tables.error());
  const auto version = pragma(database, path, "PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  if (*application == 0 && *tables == 0 && *version == 0) return 0;
  if (*application != kApplicationId || *version < 1)
    return refused(path, "is another program's database, not a run store", "name another file with --db");
  if (*version > storeSchemaVersion())
    return refused(path,
                   fmt::format("was written by a later version of vsim (schema {}, this one knows {})",
                               *version, storeSchemaVersion()),
                   "use that version, or name another file with --db");
  return *version;
}

/// The version as one moment saw it: read piece by piece, a store that another process is making between two
/// reads would look like a foreign file.
core::Result<std::int64_t> settledVersion(sqlite3* database, const std::string& path) {
  if (auto begun = execute(database, path, "BEGIN"); !begun) return tl::unexpected(begun.error());
  const auto version = versionOf(database, path);
  const auto ended = execute(database, path, "COMMIT");
  if (version && !ended) return tl::unexpected(ended.error());
  return version;
}

/// One step up, unless another process was faster.
core::Result<void> migrateOnce(sqlite3* database, const std::string& path) {
  if (auto begun = execute(database, path, "BEGIN IMMEDIATE"); !begun) return begun;
  core::Result<void> done;
  const auto version = versionOf(database, path);
  if (!version)
    done = tl::unexpected(version.error());
  else if (*version < storeSchemaVersion())
    done = execute(database, path,
                   kMigrations[static_cast<std::size_t>(*version)] +
                       fmt::format("PRAGMA user_version = {};", *version + 1));
  if (done) done = execute(database, path, "COMMIT");
  if (!done) static_cast<void>(execute(database, path, "ROLLBACK"));
  return done;
}

}  // namespace

int storeSchemaVersion() { return static_cast<int>(kMigrations.size()); }

core::Result<void> migrateStore(sqlite3* database, const std::string& path) {
  for (;;) {
    const auto version = settledVersion(database, path);
    if (!version) return tl::unexpected(version.error());
    if (*version == storeSchemaVersion()) return {};
    if (auto done = migrateOnce(database, path); !done) return done;
  }
}

core::Result<bool> isOutdated(sqlite3* database, const std::string& path) {
  return settledVersion(database, path).map([](std::int64_t version) {
    return version > 0 && version < storeSchemaVersion();
  });
}

core::Result<void> checkStore(sqlite3* database, const std::string& path) {
  const auto version = settledVersion(database, path);
  if (!version) return tl::unexpected(version.error());
  if (*version < storeSchemaVersion())
    return refused(path, "is empty or was written by an earlier version of vsim",
                   "a run that is stored there, or reading it where it may be written, brings it up to date");
  return {};
}

}  // namespace vsim::traces
