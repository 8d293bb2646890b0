// One prediction inside the process, layouts given; and how its time grows with the GPUs.

#include <benchmark/benchmark.h>

#include "app/load.h"
#include "app/prediction.h"

namespace {

using namespace vsim;

void predict(benchmark::State& state, const std::string& scenarioName, const std::string& gpus) {
  app::RunOptions options{.scenario = scenarioName};
  if (!gpus.empty()) {
    options.overrides = {{"cluster.gpus", gpus},
                         {"parallel.replicate", std::to_string(std::stoll(gpus) / 1024)}};
  }
  const auto scenarios = app::loadScenarios(options);
  if (!scenarios) return state.SkipWithError("scenario");
  const core::Scenario& scenario = scenarios->front();
  const core::ModelGraph graph(scenario.model);
  const auto models = app::costModels(scenario);
  const auto prepared = app::prepare(graph, scenario, scenario.systems.front());
  if (!models || !prepared) return state.SkipWithError("prepare");
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    auto prediction = app::predict(graph, scenario, *prepared, *models, false);
    instructions = prediction->log->instructionsExecuted;
    benchmark::DoNotOptimize(prediction);
  }
  state.counters["instructions"] = static_cast<double>(instructions);
}

BENCHMARK_CAPTURE(predict, moe_10k, std::string("moe_10k"), std::string())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict, moe_5k, std::string("moe_10k"), std::string("5120"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict, moe_20k, std::string("moe_10k"), std::string("20480"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict, llama3_8b_64, std::string("llama3_8b_64"), std::string())
    ->Unit(benchmark::kMillisecond);

}  // namespace
