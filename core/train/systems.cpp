#include "core/train/context.h"
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

Result<BuiltProgram> System::build(TrainModel model, const TrainOptions& options) const {
  prepare(model, options);
  auto layouts = plan(model, options);
  if (!layouts) return tl::unexpected(layouts.error());
  auto program = emit(model, options, *layouts);
  if (!program) return tl::unexpected(program.error());
  return BuiltProgram{.program = std::move(*program), .layouts = bucketLayouts(model, options, *layouts)};
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
  return system->build(std::move(*model), trainOptions(scenario, spec));
}

}  // namespace vsim::core
