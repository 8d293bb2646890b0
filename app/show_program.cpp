#include "app/show_program.h"

#include <algorithm>

#include "app/load.h"
#include "app/prediction.h"

namespace vsim::app {

core::ResultAll<std::string> programText(const RunOptions& options, const std::string& system) {
  auto scenarios = loadScenarios(options);
  if (!scenarios) return tl::unexpected(scenarios.error());
  const core::Scenario& scenario = scenarios->front();
  const core::SystemSpec* spec = &scenario.systems.front();
  if (!system.empty()) {
    std::vector<std::string> known;
    const core::SystemSpec* found = nullptr;
    for (const core::SystemSpec& each : scenario.systems) {
      known.push_back(each.name);
      if (each.name == system) found = &each;
    }
    if (!found)
      return tl::unexpected(core::Errors{{.message = "the scenario has no system \"" + system + "\"",
                                          .hint = fmt::format("it has {}", fmt::join(known, ", "))}});
    spec = found;
  }
  const core::ModelGraph graph(scenario.model);
  auto prepared = prepare(graph, scenario, *spec);
  if (!prepared) return tl::unexpected(core::Errors{prepared.error()});
  auto program = prepared->system->emit(prepared->model, prepared->options, prepared->layouts);
  if (!program) return tl::unexpected(core::Errors{program.error()});
  return core::print(*program);
}

}  // namespace vsim::app
