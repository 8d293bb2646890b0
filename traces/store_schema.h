#pragma once

#include <string>

#include "core/base/error.h"

struct sqlite3;

namespace vsim::traces {

/// Version of the schema that this program writes; PRAGMA user_version of the file.
[[nodiscard]] int storeSchemaVersion();

/// Brings an empty file or an older run store up to date, each migration in one transaction. Errors: another
/// program's database, a later version of vsim's.
[[nodiscard]] core::Result<void> migrateStore(sqlite3* database, const std::string& path);

/// Whether the file is a run store of an earlier version, which migrateStore brings up to date. Errors: as
/// there.
[[nodiscard]] core::Result<bool> isOutdated(sqlite3* database, const std::string& path);

/// The same tests without changing anything; an older schema is refused, too.
[[nodiscard]] core::Result<void> checkStore(sqlite3* database, const std::string& path);

}  // namespace vsim::traces
