#include <CLI/CLI.hpp>
#include <memory>

#include "app/show_program.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/scenario_options.h"

namespace vsim::cli {
namespace {

int program(const ScenarioOptions& scenario, const std::string& system) {
  const auto options = scenario.resolve();
  if (!options) return reportWrongInput(options.error());
  const auto text = app::programText(*options, system);
  if (!text) return reportWrongInput(text.error());
  print(*text);
  return kDone;
}

}  // namespace

void addProgram(CLI::App& app, Call& call) {
  const auto scenario = std::make_shared<ScenarioOptions>();
  const auto system = std::make_shared<std::string>();
  CLI::App* const sub = app.add_subcommand("program", "what one rank's host thread issues in a step");
  scenario->addTo(*sub);
  sub->add_option("--system", *system, "which of the scenario's systems (default: the first)")
      ->type_name("NAME");
  sub->callback([scenario, system, &call] { call.exitCode = program(*scenario, *system); });
}

}  // namespace vsim::cli
