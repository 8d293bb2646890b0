#include "cli/store.h"

#include <CLI/CLI.hpp>
#include <ctime>
#include <fstream>
#include <iterator>

#include "cli/command_line.h"
#include "cli/output.h"

namespace vsim::cli {

void StoreOptions::addTo(CLI::App& command) {
  command.add_option("--db", database, "run store (default: in the user's data folder)")->type_name("FILE");
  command.add_flag("--no-store", none, "do not store the run");
}

int store(const StoreOptions& options, const traces::RunRecord& record) {
  const bool named = !options.database.empty();
  const auto path = named ? core::Result<std::string>(options.database) : traces::defaultStorePath();
  const auto saved = path.and_then([](const std::string& file) {
                           return traces::RunStore::open(file, traces::RunStore::Access::readWrite);
                         })
                         .and_then([&](traces::RunStore opened) { return opened.save(record); });
  if (saved) {
    note(fmt::format("stored as run {} in {}", *saved, *path));
    return kDone;
  }
  if (named) return reportFailure(saved.error());
  warn("the run is not stored: " + saved.error().text());
  return kDone;
}

traces::StoredProfile storedProfile(const core::Profile& profile, std::string text) {
  traces::StoredProfile stored;
  if (profile.hardware) {
    stored.executor = profile.hardware->executor;
    stored.device = profile.hardware->device;
  }
  stored.ranks = profile.gpus;
  stored.text = std::move(text);
  return stored;
}

std::string fileText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string scenarioText(const core::Scenario& scenario) {
  std::string text = fileText(scenario.path);
  for (const auto& [key, value] : scenario.overrides) text += fmt::format("\n--set {}={}", key, value);
  return text;
}

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  if (::gmtime_r(&now, &parts) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace vsim::cli
