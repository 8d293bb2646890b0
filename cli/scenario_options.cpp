#include "cli/scenario_options.h"

#include <CLI/CLI.hpp>

namespace vsim::cli {

void ScenarioOptions::addTo(CLI::App& command) {
  command.add_option("SCENARIO", scenario, "file, or the name of a bundled scenario")->required();
  command.add_option("--set", settings, "override a key: --set batch.micro_batch=2 (may be repeated)")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
}

core::ResultAll<app::RunOptions> ScenarioOptions::resolve() const {
  app::RunOptions options;
  options.scenario = scenario;
  core::Errors errors;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      errors.push_back({.message = fmt::format("--set {}: not of the form key=value", setting),
                        .hint = "for example --set batch.micro_batch=2"});
    else
      options.overrides.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return options;
}

}  // namespace vsim::cli
