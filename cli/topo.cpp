#include <CLI/CLI.hpp>
#include <memory>

#include "app/topology_text.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/scenario_options.h"

namespace vsim::cli {
namespace {

int topo(const ScenarioOptions& scenario, bool list) {
  if (list) {
    print(app::clusterListText());
    return kDone;
  }
  if (scenario.scenario.empty())
    return reportWrongInput(
        {{.message = "topo: which scenario?", .hint = "--list prints the cluster presets"}});
  const auto options = scenario.resolve();
  if (!options) return reportWrongInput(options.error());
  const auto text = app::topologyText(*options);
  if (!text) return reportWrongInput(text.error());
  print(*text);
  return kDone;
}

}  // namespace

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
