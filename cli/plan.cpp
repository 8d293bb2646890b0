#include "app/plan.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/scenario_options.h"

namespace vsim::cli {
namespace {

int printText(const core::ResultAll<std::string>& text) {
  if (!text) return reportWrongInput(text.error());
  print(*text);
  return kDone;
}

int topo(const ScenarioOptions& scenario, bool list) {
  if (list) {
    print(app::clusterListText());
    return kDone;
  }
  if (scenario.scenario.empty())
    return reportWrongInput(
        {{.message = "topo: which scenario?", .hint = "--list prints the cluster presets"}});
  const auto options = scenario.resolve();
  return options ? printText(app::topologyText(*options)) : reportWrongInput(options.error());
}

}  // namespace

void addPlan(CLI::App& app, Call& call) {
  const auto scenario = std::make_shared<ScenarioOptions>();
  CLI::App* const sub = app.add_subcommand("plan", "the layouts alone: shard sizes, padding, gap");
  scenario->addTo(*sub);
  sub->callback([scenario, &call] {
    const auto options = scenario->resolve();
    call.exitCode = options ? printText(app::planText(*options)) : reportWrongInput(options.error());
  });
}

void addTopo(CLI::App& app, Call& call) {
  const auto scenario = std::make_shared<ScenarioOptions>();
  const auto list = std::make_shared<bool>(false);
  CLI::App* const sub = app.add_subcommand("topo", "the cluster of a scenario");
  scenario->addTo(*sub);
  sub->get_option("SCENARIO")->required(false);
  sub->add_flag("--list", *list, "the names of all cluster presets");
  sub->callback([scenario, list, &call] { call.exitCode = topo(*scenario, *list); });
}

}  // namespace vsim::cli
