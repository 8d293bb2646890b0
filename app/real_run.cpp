#include "app/real_run.h"

#include <algorithm>
#include <set>

#include "app/load.h"
#include "app/prediction.h"
#include "app/profile_notes.h"
#include "app/real_profile.h"
#include "app/share_outcome.h"
#include "core/model/model_graph.h"

namespace vsim::app {
namespace {

using namespace core;

constexpr int kMostSteps = 255;  // Slice::step is a byte

/// One system ready to run.
struct Planned {
  Prepared prepared;
  std::shared_ptr<const StepProgram> program;
};

ResultAll<std::vector<Planned>> planSystems(const ModelGraph& graph, const Scenario& scenario) {
  std::vector<Planned> plans;
  for (const SystemSpec& spec : scenario.systems) {
    auto prepared = prepare(graph, scenario, spec);
    if (!prepared) return tl::unexpected(Errors{prepared.error()});
    auto program = emitProgram(*prepared);
    if (!program) return tl::unexpected(Errors{program.error()});
    plans.push_back({std::move(*prepared), std::move(*program)});
  }
  return plans;
}

/// What the machine says of itself, for reports of what it measured.
HardwareFacts measuredHardware(const gpu::MachineFacts& facts, const HardwareFacts& predicted) {
  HardwareFacts hardware = predicted;
  if (!facts.ranks.empty()) {
    hardware.gpu = facts.ranks.front().device;
    hardware.capacityBytes = facts.ranks.front().memory;
  }
  return hardware;
}

/// The leader's part after an execution.
ResultAll<RealResult> compare(const ModelGraph& graph, const Scenario& scenario, const Planned& plan,
                              const gpu::MachineFacts& facts, const CostModels& models,
                              ExecutionLog measured) {
  const bool host = facts.executor == "host";
  const RunFacts run = runFacts(graph, scenario, plan.prepared, *plan.program);
  HardwareFacts hardware = hardwareFacts(scenario, *plan.program, models);
  if (host) hardware.contextBytes = hardware.ncclBytes = 0;
  auto prediction = predictProgram(plan.program, run, hardware, models,
                                   {.keepLogs = true,
                                    .cachingAllocator = !host,
                                    .steps = std::max(2, static_cast<int>(scenario.simulate.steps))});
  if (!prediction) return tl::unexpected(Errors{prediction.error()});
  auto verdict = makeVerdict(measured, *prediction->log, static_cast<int>(scenario.real.warmup));
  if (!verdict) return tl::unexpected(Errors{verdict.error()});
  verdict->scenario = scenario.name;
  verdict->executor = facts.executor;

  RealResult result;
  result.measured =
      makeReport(endedAfter(measured, typicalStep(*verdict)), run, measuredHardware(facts, hardware));
  result.predicted = std::move(prediction->report);
  result.measured.facts.system += " (measured)";
  result.predicted.facts.system += " (predicted)";
  result.measured.facts.simulatedRanks = 0;
  result.verdict = std::move(*verdict);
  result.measuredLog = std::make_shared<const ExecutionLog>(std::move(measured));
  result.predictedLog = std::move(prediction->log);
  return result;
}

}  // namespace

ResultAll<Scenario> loadRealScenario(const RunOptions& options, const RealRunOptions& real) {
  auto scenarios = loadScenarios(options);
  if (!scenarios) return tl::unexpected(scenarios.error());
  if (scenarios->size() != 1)
    return tl::unexpected(Errors{
        {.message = fmt::format("the scenario is a sweep of {} points: --real runs one", scenarios->size()),
         .hint = "a scenario without `sweep:`, or --set with one value per key of the sweep"}});
  Scenario scenario = std::move(scenarios->front());
  if (real.steps) scenario.real.steps = *real.steps;
  if (real.warmup) scenario.real.warmup = *real.warmup;
  if (scenario.real.steps < 1 || scenario.real.warmup < 0 ||
      scenario.real.steps + scenario.real.warmup > kMostSteps)
    return tl::unexpected(
        Errors{{.message = fmt::format("{} steps after {} of warm-up cannot be run: 1 to {} together",
                                       scenario.real.steps, scenario.real.warmup, kMostSteps),
                .hint = "--steps N, --warmup N, or `real: {steps, warmup}` of the scenario"}});
  return scenario;
}

Result<void> checkRanks(const Scenario& scenario, int ranks) {
  if (scenario.cluster.gpus == ranks) return {};
  const ParallelSpec& p = scenario.parallel;
  const std::int64_t fixed = p.fsdp * p.tensor;
  std::string hint;
  if (fixed > 0 && ranks % fixed == 0)
    hint = fmt::format("--set cluster.gpus={} --set parallel.replicate={}", ranks, ranks / fixed);
  else if (p.tensor > 0 && ranks % p.tensor == 0 &&
           ranks * p.tensor % std::max<std::int64_t>(1, p.expert) == 0)
    hint = fmt::format("--set cluster.gpus={} --set parallel.fsdp={} --set parallel.replicate=1", ranks,
                       ranks / p.tensor);
  else
    hint = fmt::format("start it with {} ranks", scenario.cluster.gpus);
  return fail(fmt::format("the scenario has {} GPUs, the job {} {}", scenario.cluster.gpus, ranks,
                          ranks == 1 ? "rank" : "ranks"),
              hint);
}

Outcome<RealRun> realRun(gpu::Machine& machine, const Scenario& scenario, const RealRunOptions& options,
                         const RealProgress& progress) {
  const auto tell = [&](const std::string& what, double fraction) {
    if (progress) progress(what, fraction, -1);
  };
  if (auto fits = checkRanks(scenario, machine.ranks()); !fits) return wrongInput(fits.error());
  tell("planning", 0);
  const ModelGraph graph(scenario.model);
  auto plans = planSystems(graph, scenario);
  if (!plans) return wrongInput(plans.error());
  std::vector<std::shared_ptr<const StepProgram>> programs;
  for (const Planned& plan : *plans) programs.push_back(plan.program);

  RealRun run;
  auto source = profileFor(machine, scenario, programs, options, progress, run);
  if (!source) return tl::unexpected(source.error());
  ResultAll<CostModels> models = tl::unexpected(Errors{});
  run.profile = *source;
  auto ready = shareOutcome(machine, [&]() -> Outcome<void> {
    models = costModels(scenario, *source);
    if (!models) return wrongInput(models.error());
    return {};
  });
  if (!ready) return tl::unexpected(ready.error());

  const int steps = static_cast<int>(scenario.real.steps + scenario.real.warmup);
  for (std::size_t i = 0; i < plans->size(); ++i) {
    const Planned& plan = (*plans)[i];
    tell(fmt::format("{}: {} steps on {} ranks", plan.program->system, steps, machine.ranks()),
         static_cast<double>(i) / static_cast<double>(plans->size()));
    auto log = machine.execute(plan.program, steps);
    if (!log) return machineFailed(log.error());
    if (machine.leads() && machine.ownMemory() > 0)
      run.notes.push_back(
          fmt::format("{}: beside the program's memory, the operands and results of its kernels "
                      "took {} of a GPU: in neither peak",
                      plan.program->system, formatBytes(machine.ownMemory())));
    auto compared = shareOutcome(machine, [&]() -> Outcome<void> {
      auto result = compare(graph, scenario, plan, machine.facts(), *models, std::move(*log));
      if (!result) return tl::unexpected(Failure{.errors = result.error()});
      for (std::string& note : profileNotes(scenario, *models, *result->predictedLog))
        if (std::ranges::find(run.notes, note) == run.notes.end()) run.notes.push_back(std::move(note));
      run.results.push_back(std::move(*result));
      return {};
    });
    if (!compared) return tl::unexpected(compared.error());
  }
  tell("done", 1);
  return run;
}

}  // namespace vsim::app
