#include "core/train/fsdp2.h"
#include "core/train/system.h"
#include "core/train/vescale.h"

namespace vsim::core {

const std::vector<std::unique_ptr<System>>& systems() {
  static const std::vector<std::unique_ptr<System>> all = [] {
    std::vector<std::unique_ptr<System>> list;
    list.push_back(std::make_unique<VeScale>());
    list.push_back(std::make_unique<Fsdp2>());
    return list;
  }();
  return all;
}

const System* findSystem(std::string_view name) {
  for (const auto& system : systems())
    if (system->name() == name) return system.get();
  return nullptr;
}

TrainOptions trainOptions(const Scenario& scenario, const SystemSpec& system) {
  return {.parallel = scenario.parallel,
          .precision = scenario.precision,
          .optimizer = scenario.optimizer,
          .optimizerKernel = scenario.software.optimizerKernel,
          .granularity = scenario.granularity,
          .accumulation = scenario.batch.accumulation,
          .system = system};
}

Result<BuiltProgram> buildProgram(const ModelGraph& graph, const Scenario& scenario, const SystemSpec& spec) {
  const System* system = findSystem(spec.name);
  if (!system) {
    std::string known;
    for (const auto& each : systems()) known += (known.empty() ? "" : ", ") + std::string(each->name());
    return fail("unknown system \"" + spec.name + "\"", "known: " + known);
  }
  auto model = makeTrainModel(graph, scenario, spec, system->expertStorage());
  if (!model) return tl::unexpected(model.error());
  return system->build(*model, trainOptions(scenario, spec));
}

}  // namespace vsim::core
