#include "app/group_kernels.h"

#include "app/load.h"
#include "app/prediction.h"
#include "core/model/model_graph.h"

namespace vsim::app {

using namespace core;

namespace {

/// One layer of Llama's proportions. Micro-batches are accumulated, so that gradients are added as well as
/// stored; the batch itself plays no part.
std::string scenarioText(int ranks, int hidden, const char* parameters) {
  return fmt::format(
      "vsim: 1\n"
      "name: group_kernels\n"
      "model: {{name: layer, layers: 1, hidden: {0}, heads: {1}, kv_heads: {2}, intermediate: {3}, "
      "vocabulary: "
      "32000}}\n"
      "cluster: {{preset: h200-rail-optimized, gpus: {4}}}\n"
      "parallel: {{fsdp: {4}}}\n"
      "systems: [vescale, fsdp2]\n"
      "batch: {{sequence: 128, micro_batch: 1, accumulation: 2}}\n"
      "precision: {{params: {5}, compute: bf16, reduce: fp32}}\n"
      "optimizer: {{name: adamw}}\n"
      "simulate: {{mode: representative}}\n",
      hidden, hidden / 128, hidden / 512, hidden / 2 * 7, ranks, parameters);
}

}  // namespace

ResultAll<std::vector<std::shared_ptr<const StepProgram>>> groupKernelPrograms(int ranks) {
  struct Model {
    int hidden;
    const char* parameters;  // their type: other kernels cast
  };
  std::vector<std::shared_ptr<const StepProgram>> programs;
  for (const Model& model : {Model{4096, "fp32"}, Model{1024, "fp32"}, Model{8192, "fp32"},
                             Model{4096, "bf16"}, Model{1024, "bf16"}, Model{8192, "bf16"}}) {
    const auto scenario = parseScenario(scenarioText(ranks, model.hidden, model.parameters),
                                        "the models of group kernels", readOptions({}));
    if (!scenario) return tl::unexpected(scenario.error());
    const ModelGraph graph(scenario->model);
    for (const SystemSpec& spec : scenario->systems) {
      const auto prepared = prepare(graph, *scenario, spec);
      if (!prepared) return tl::unexpected(Errors{prepared.error()});
      auto program = emitProgram(*prepared);
      if (!program) return tl::unexpected(Errors{program.error()});
      programs.push_back(std::move(*program));
    }
  }
  return programs;
}

}  // namespace vsim::app
