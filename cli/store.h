#pragma once

#include <string>

#include "core/profile/profile.h"
#include "core/scenario/scenario.h"
#include "traces/run_store.h"

namespace CLI {
class App;
}

namespace vsim::cli {

/// Where a command stores what it did.
struct StoreOptions {
  std::string database;  // empty: the user's
  bool none = false;
  void addTo(CLI::App& command);
};

/// Stores in the named file, or else in the user's; only the former may fail the command. Answers an exit
/// code.
[[nodiscard]] int store(const StoreOptions& options, const traces::RunRecord& record);

/// `text`: profileText() of the profile.
[[nodiscard]] traces::StoredProfile storedProfile(const core::Profile& profile, std::string text);

/// The whole file; empty where it cannot be read.
[[nodiscard]] std::string fileText(const std::string& path);

/// The scenario's file as it is, and what was set on top, for processes to compare. Empty for no file.
[[nodiscard]] std::string scenarioText(const core::Scenario& scenario);

/// Now, UTC: "2026-11-30T12:00:00Z".
[[nodiscard]] std::string timestamp();

}  // namespace vsim::cli
