#include "traces/sqlite.h"

namespace vsim::traces {

core::Error databaseError(sqlite3* database, const std::string& path, int code) {
  core::Error error;
  error.file = path;
  error.message = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      error.message = "is not a run store";
      error.hint = "name another file with --db";
      break;
    case SQLITE_CORRUPT:
      error.message = "the run store is damaged";
      error.hint = "move it away, or name another file with --db";
      break;
    case SQLITE_BUSY:
      error.message = "the run store is locked by another process";
      break;
    case SQLITE_FULL:
      error.message = "no space left for the run store";
      break;
    default:
      break;
  }
  return error;
}

Statement::Statement(sqlite3* database, const char* sql) {
  note(sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr));
}

Statement& Statement::bind(std::int64_t value) {
  note(sqlite3_bind_int64(statement_, next_++, value));
  return *this;
}

Statement& Statement::bind(double value) {
  note(sqlite3_bind_double(statement_, next_++, value));
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  note(sqlite3_bind_text64(statement_, next_++, text.data() != nullptr ? text.data() : "", text.size(),
                           SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bindBlob(std::string_view bytes) {
  note(sqlite3_bind_blob64(statement_, next_++, bytes.data(), bytes.size(), SQLITE_STATIC));
  return *this;
}

int Statement::step() { return status_ != SQLITE_OK ? status_ : sqlite3_step(statement_); }

std::string Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return data == nullptr
             ? std::string()
             : std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

std::string_view Statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return data == nullptr
             ? std::string_view()
             : std::string_view(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

}  // namespace vsim::traces
