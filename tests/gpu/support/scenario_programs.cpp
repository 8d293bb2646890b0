#include "tests/gpu/support/scenario_programs.h"

#include <stdexcept>

#include "core/model/model_graph.h"
#include "core/scenario/reader.h"
#include "tests/folders.h"

namespace vsim::test {

using namespace vsim::core;

std::vector<ScenarioProgram> scenarioPrograms(const std::string& file) {
  ReadOptions reading;
  reading.searchFolders = {VSIM_SOURCE_DIR};
  reading.clusterPresets = {"h100-rail-optimized"};
  const auto scenario = readScenario(VSIM_SOURCE_DIR "/scenarios/" + file, reading);
  if (!scenario) throw std::runtime_error(text(scenario.error()));
  const ModelGraph graph(scenario->model);
  std::vector<ScenarioProgram> result;
  for (const auto& system : systems()) {
    SystemSpec spec = scenario->systems.front();
    spec.name = std::string(system->name());
    ScenarioProgram one{spec.name, {}, trainOptions(*scenario, spec), nullptr, 1};
    auto model = makeTrainModel(graph, *scenario, spec, system->expertStorage());
    if (!model) throw std::runtime_error(model.error().text());
    one.model = std::move(*model);
    auto built = system->build(one.model, one.options);
    if (!built) throw std::runtime_error(built.error().text());
    one.program = std::make_shared<const StepProgram>(std::move(built->program));
    const ParallelSpec& parallel = scenario->parallel;
    one.ranks = static_cast<int>(parallel.fsdp * parallel.replicate * parallel.tensor);
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace vsim::test
