#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace vsim::traces {

/// An Error that says what SQLite says about the file, with a hint where one helps.
[[nodiscard]] core::Error databaseError(sqlite3* database, const std::string& path, int code);

/// A prepared statement; binds in order of calls, counted from 1. Texts and blobs must live until the last
/// step.
class Statement {
 public:
  Statement(sqlite3* database, const char* sql);
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);
  Statement& bindBlob(std::string_view bytes);

  /// SQLITE_ROW, SQLITE_DONE or the error of preparing, binding or stepping.
  [[nodiscard]] int step();

  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] double real(int column) const { return sqlite3_column_double(statement_, column); }
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::string_view blob(int column) const;

 private:
  void note(int code) {
    if (status_ == SQLITE_OK) status_ = code;
  }
  sqlite3_stmt* statement_ = nullptr;
  int status_ = SQLITE_OK;
  int next_ = 1;
};

}  // namespace vsim::traces
