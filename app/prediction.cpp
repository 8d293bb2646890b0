#include "app/prediction.h"

#include <algorithm>

#include "sim/engine/simulator.h"
#include "sim/memory/caching_allocator.h"

namespace vsim::app {
namespace {

using namespace core;

double recomputeFlopsPerToken(const StepProgram& program, double tokensPerRank, std::int64_t tensorParallel) {
  double flops = 0;
  for (const Instruction& i : program.step) {
    if (i.kind != InstructionKind::kernel || i.phase != Phase::recompute) continue;
    const Kernel& kernel = program.kernels[i.operand];
    if (kernel.operation != kNone) flops += program.operations[kernel.operation].flops;
  }
  return flops * static_cast<double>(tensorParallel) / tokensPerRank;
}

}  // namespace

Result<Prepared> prepareModel(const ModelGraph& graph, const Scenario& scenario, const SystemSpec& spec,
                              const PlanningOptions& planning) {
  Prepared prepared;
  prepared.options = trainOptions(scenario, spec);
  prepared.options.planning = planning;
  prepared.system = findSystem(spec.name);
  if (!prepared.system) return fail("unknown system \"" + spec.name + "\"");
  auto model = makeTrainModel(graph, scenario, spec, prepared.system->expertStorage());
  if (!model) return tl::unexpected(model.error());
  prepared.model = std::move(*model);
  prepared.system->prepare(prepared.model, prepared.options);
  return prepared;
}

Result<Prepared> prepare(const ModelGraph& graph, const Scenario& scenario, const SystemSpec& spec) {
  auto prepared = prepareModel(graph, scenario, spec);
  if (!prepared) return prepared;
  auto layouts = prepared->system->plan(prepared->model, prepared->options);
  if (!layouts) return tl::unexpected(layouts.error());
  prepared->layouts = std::move(*layouts);
  return prepared;
}

Result<std::shared_ptr<const StepProgram>> emitProgram(const Prepared& prepared) {
  auto emitted = prepared.system->emit(prepared.model, prepared.options, prepared.layouts);
  if (!emitted) return tl::unexpected(emitted.error());
  return std::make_shared<const StepProgram>(std::move(*emitted));
}

RunFacts runFacts(const ModelGraph& graph, const Scenario& scenario, const Prepared& prepared,
                  const StepProgram& program) {
  const ModelConfig& model = graph.config();
  const std::int64_t ranksOfTokens = scenario.parallel.fsdp * scenario.parallel.replicate;
  const std::int64_t tokensPerRank =
      scenario.batch.sequence * scenario.batch.microBatch * scenario.batch.accumulation;
  BuiltProgram padding;
  padding.layouts = bucketLayouts(prepared.model, prepared.options, prepared.layouts);
  return {.scenario = scenario.name,
          .system = std::string(prepared.system->name()),
          .gpus = scenario.cluster.gpus,
          .tokensPerStep = ranksOfTokens * tokensPerRank,
          .parameters = graph.checkpointElements(),
          .activeParameters = graph.activeParameterCount(),
          .layers = model.layers,
          .heads = model.heads,
          .headDim = model.headDim,
          .sequence = scenario.batch.sequence,
          .recomputeFlopsPerToken =
              recomputeFlopsPerToken(program, static_cast<double>(tokensPerRank), scenario.parallel.tensor),
          .paddingRatio = padding.paddingRatio(),
          .simulatedRanks = 1,
          .overrides = scenario.overrides};
}

HardwareFacts hardwareFacts(const Scenario& scenario, const StepProgram& program, const CostModels& models) {
  return {.gpu = models.cluster.gpu.name,
          .peakFlops = models.cluster.gpu.peak(scenario.precision.compute),
          .capacityBytes = models.cluster.gpu.memory,
          .contextBytes = contextBytes(models.cluster.gpu),
          .ncclBytes = ncclBytes(program, models)};
}

Result<Prediction> predictProgram(const std::shared_ptr<const StepProgram>& program, const RunFacts& facts,
                                  const HardwareFacts& hardware, const CostModels& models,
                                  const PredictionOptions& options) {
  CostTable costs = costTable(*program, models);
  CostErrors errors;
  for (const Cost& cost : costs.operations) errors.operations.push_back(cost.relativeError);
  for (const Cost& cost : costs.collectives) errors.collectives.push_back(cost.relativeError);

  sim::SimulatorOptions simulation;
  if (options.cachingAllocator) {
    sim::AllocatorOptions memory;
    memory.capacity = std::max<Bytes>(0, hardware.capacityBytes - hardware.contextBytes - hardware.ncclBytes);
    simulation.makeMemory = [memory] { return std::make_unique<sim::CachingAllocator>(memory); };
  }
  simulation.slices = simulation.memory = options.keepLogs ? sim::Keep::everything : sim::Keep::lastStep;
  simulation.ranks = facts.gpus;
  simulation.cancelled = options.cancelled;
  sim::Simulator simulator(std::move(costs), simulation);
  auto log = simulator.execute(program, options.steps);
  if (!log) return tl::unexpected(log.error());
  Prediction prediction;
  prediction.report = makeReport(*log, facts, hardware, &errors);
  prediction.log = std::make_shared<const ExecutionLog>(std::move(*log));
  return prediction;
}

Result<Prediction> predict(const ModelGraph& graph, const Scenario& scenario, const Prepared& prepared,
                           const CostModels& models, bool keepLogs, const std::function<bool()>& cancelled) {
  const auto program = emitProgram(prepared);
  if (!program) return tl::unexpected(program.error());
  return predictProgram(
      *program, runFacts(graph, scenario, prepared, **program), hardwareFacts(scenario, **program, models),
      models,
      {.keepLogs = keepLogs, .steps = static_cast<int>(scenario.simulate.steps), .cancelled = cancelled});
}

}  // namespace vsim::app
