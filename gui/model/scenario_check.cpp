#include "gui/model/scenario_check.h"

#include <algorithm>
#include <filesystem>

#include "app/load.h"
#include "core/scenario/reader.h"
#include "gui/model/scenario_form.h"

namespace vsim::gui {
namespace fs = std::filesystem;

ScenarioCheck checkScenario(const std::string& text, const std::string& path) {
  const core::ReadOptions options = app::readOptions({.scenario = path});
  ScenarioCheck check;
  check.written = writtenValues(text);
  auto scenario = core::parseScenario(text, path, options);
  if (!scenario) {
    check.errors = std::move(scenario.error());
    return check;
  }
  check.scenario = std::move(*scenario);
  const auto points = core::parseSweep(text, path, options);
  if (points)
    check.points = points->size();
  else
    check.errors = points.error();
  return check;
}

std::vector<std::string> bundledScenarios() {
  std::vector<std::string> names;
  for (const std::string& folder : app::searchFolders()) {
    std::error_code problem;
    if (fs::path(folder).filename() != "scenarios") continue;
    for (const auto& entry : fs::directory_iterator(folder, problem))
      if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool isBundled(const std::string& path) {
  std::error_code problem;
  const std::string file = fs::weakly_canonical(path, problem).string();
  const auto folders = app::searchFolders();
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    return file.starts_with(fs::weakly_canonical(folder, problem).string() + "/");
  });
}

}  // namespace vsim::gui
