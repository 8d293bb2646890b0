#include <fmt/format.h>

#include "traces/run_store.h"
#include "traces/sqlite.h"

namespace vsim::traces {
namespace {

int execute(sqlite3* database, const char* sql) {
  return sqlite3_exec(database, sql, nullptr, nullptr, nullptr);
}

}  // namespace

core::Result<void> RunStore::setMark(std::int64_t id, const char* sql, const std::string& text) {
  Statement insert(database_.get(), sql);
  const int status = insert.bind(id).bind(std::string_view(text)).step();
  // The reference to the run is checked: foreign keys are on.
  if ((status & 0xff) == SQLITE_CONSTRAINT)
    return tl::unexpected(core::Error{.message = fmt::format("there is no run {}", id), .file = path_});
  if (status != SQLITE_DONE) return tl::unexpected(databaseError(database_.get(), path_, status));
  return {};
}

core::Result<void> RunStore::setTags(std::int64_t id, const std::string& tags) {
  return setMark(id,
                 "INSERT INTO marks (run, tags) VALUES (?, ?) "
                 "ON CONFLICT (run) DO UPDATE SET tags = excluded.tags",
                 tags);
}

core::Result<void> RunStore::setNote(std::int64_t id, const std::string& note) {
  return setMark(id,
                 "INSERT INTO marks (run, note) VALUES (?, ?) "
                 "ON CONFLICT (run) DO UPDATE SET note = excluded.note",
                 note);
}

core::Result<void> RunStore::forEach(const std::vector<std::int64_t>& ids, const char* sql,
                                     std::int64_t value) {
  sqlite3* const database = database_.get();
  int status = execute(database, "BEGIN IMMEDIATE");
  if (status != SQLITE_OK) return tl::unexpected(databaseError(database, path_, status));
  for (const std::int64_t id : ids) {
    Statement statement(database, sql);
    status = statement.bind(id).bind(value).step();
    if (status != SQLITE_DONE) break;
  }
  if (status == SQLITE_OK || status == SQLITE_DONE) status = execute(database, "COMMIT");
  if (status == SQLITE_OK) return {};
  core::Error error = databaseError(database, path_, status);
  if ((status & 0xff) == SQLITE_CONSTRAINT) error.message = "one of the runs is not there any more";
  static_cast<void>(execute(database, "ROLLBACK"));
  return tl::unexpected(std::move(error));
}

core::Result<void> RunStore::pin(std::int64_t id) {
  sqlite3* const database = database_.get();
  if (id == 0) {
    const int status = execute(database, "UPDATE marks SET pinned = 0 WHERE pinned");
    if (status != SQLITE_OK) return tl::unexpected(databaseError(database, path_, status));
    return {};
  }
  if (auto there = load(id); !there) return tl::unexpected(there.error());
  // The mark of each run is 1 for this one, 0 for all others: one statement, so that never two are pinned.
  return forEach({id},
                 "INSERT INTO marks (run, pinned) SELECT ?1, 1 WHERE ?2 = 1 UNION "
                 "SELECT run, 0 FROM marks WHERE pinned AND run != ?1 "
                 "ON CONFLICT (run) DO UPDATE SET pinned = excluded.pinned",
                 1);
}

core::Result<void> RunStore::deleteRuns(const std::vector<std::int64_t>& ids, std::int64_t nowSeconds) {
  return forEach(ids,
                 "INSERT INTO marks (run, deleted) VALUES (?, ?) "
                 "ON CONFLICT (run) DO UPDATE SET deleted = excluded.deleted",
                 nowSeconds);
}

core::Result<void> RunStore::restoreRuns(const std::vector<std::int64_t>& ids) {
  return forEach(ids, "UPDATE marks SET deleted = NULL WHERE run = ? AND ? = 0", 0);
}

core::Result<std::vector<std::int64_t>> RunStore::lastDeleted() {
  Statement select(database_.get(),
                   "SELECT run FROM marks WHERE deleted = (SELECT max(deleted) FROM marks) ORDER BY run");
  std::vector<std::int64_t> ids;
  int status = SQLITE_ROW;
  while ((status = select.step()) == SQLITE_ROW) ids.push_back(select.integer(0));
  if (status != SQLITE_DONE) return tl::unexpected(databaseError(database_.get(), path_, status));
  return ids;
}

core::Result<void> RunStore::purge(std::int64_t beforeSeconds) {
  Statement remove(database_.get(), "DELETE FROM runs WHERE id IN (SELECT run FROM marks WHERE deleted < ?)");
  const int status = remove.bind(beforeSeconds).step();
  if (status != SQLITE_DONE) return tl::unexpected(databaseError(database_.get(), path_, status));
  return {};
}

core::Result<std::int64_t> RunStore::dataVersion() {
  Statement select(database_.get(), "PRAGMA data_version");
  const int status = select.step();
  if (status != SQLITE_ROW) return tl::unexpected(databaseError(database_.get(), path_, status));
  return select.integer(0);
}

}  // namespace vsim::traces
