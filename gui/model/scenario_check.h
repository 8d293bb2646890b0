#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/scenario/scenario.h"

namespace vsim::gui {

/// What the reader of the command line says of a scenario's text.
struct ScenarioCheck {
  std::optional<core::Scenario> scenario;      // the scenario itself, without its sweep; nothing: wrong
  std::map<std::string, std::string> written;  // scenario_form.h: writtenValues
  core::Errors errors;                         // in the order of lines
  std::size_t points = 0;                      // of the sweep; 1 without one
};

/// Reads `text` as the file at `path` (its folder is where profiles are looked for). Milliseconds for a plain
/// scenario, more for a sweep: for background threads.
[[nodiscard]] ScenarioCheck checkScenario(const std::string& text, const std::string& path);

/// Names of the bundled scenarios, sorted.
[[nodiscard]] std::vector<std::string> bundledScenarios();
/// Whether the file belongs to the program rather than its user.
[[nodiscard]] bool isBundled(const std::string& path);

}  // namespace vsim::gui
