#include "app/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/load.h"
#include "app/prediction.h"
#include "core/model/zoo.h"
#include "core/optim/optimizer.h"
#include "core/plan/cut_blocks.h"
#include "core/plan/problem_key.h"
#include "core/plan/verifier.h"

namespace vsim::app {
namespace {

using namespace core;

double clockSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

PlanningOptions planningOptions(const PlanOptions& options) {
  PlanningOptions planning{.align = options.align, .expertsApart = options.expertsApart};
  planning.buckets.searchOrder = options.searchOrder;
  planning.buckets.seconds = options.budgetMilliseconds * 1e-3;
  planning.buckets.now = clockSeconds;
  return planning;
}

ResultAll<std::vector<Scenario>> scenariosOf(const PlanOptions& options) {
  if (options.presets.empty()) return loadScenarios(options.scenario);
  std::vector<Scenario> scenarios;
  Errors errors;
  for (const std::string& name : options.presets) {
    auto model = preset(name);
    if (!model) {
      errors.push_back(model.error());
      continue;
    }
    Scenario scenario;
    scenario.name = name;
    scenario.model = std::move(*model);
    scenario.parallel.fsdp = scenario.cluster.gpus;
    scenario.systems = {SystemSpec{.name = "vescale"}};
    if (options.presetRows > 0)
      scenario.granularity = {{.match = "*", .rows = options.presetRows, .tile = {}}};
    scenarios.push_back(std::move(scenario));
  }
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return scenarios;
}

/// The scenario with another FSDP group. Replication and the cluster's size do not touch layouts.
Result<Scenario> withGroupSize(Scenario scenario, std::int64_t size) {
  const ParallelSpec& p = scenario.parallel;
  if (size * p.tensor % p.expert != 0)
    return fail(
        fmt::format("group size {}: {} expert ranks do not divide {} ranks", size, p.expert, size * p.tensor),
        "leave this size out, or set parallel.expert");
  scenario.parallel.fsdp = size;
  return scenario;
}

PlannedSystem header(const Scenario& scenario, const std::string& system) {
  return {.system = system,
          .scenario = scenario.name,
          .model = scenario.model.name,
          .overrides = scenario.overrides,
          .devices = scenario.parallel.fsdp,
          .parameterBytes = bytesOf(scenario.precision.params),
          .buckets = {},
          .units = {},
          .refusal = {}};
}

/// Every bucket of the model: its name and the index of its problem.
std::vector<std::pair<std::string, std::size_t>> unitsOf(const Prepared& prepared) {
  std::vector<std::pair<std::string, std::size_t>> units;
  for (const WrapUnit& unit : prepared.model.units)
    for (const GroupSpec& group : unit.groups)
      units.emplace_back(group.name, prepared.layouts.ofGroup[units.size()]);
  return units;
}

/// A scenario's system, as `vsim run` lays it out.
Result<PlannedSystem> planSystem(const ModelGraph& graph, const Scenario& scenario, const SystemSpec& spec,
                                 const PlanOptions& options) {
  auto prepared = prepareModel(graph, scenario, spec, planningOptions(options));
  if (!prepared) return tl::unexpected(prepared.error());
  PlannedSystem planned = header(scenario, spec.name);
  const double start = clockSeconds();
  auto layouts = prepared->system->plan(prepared->model, prepared->options);
  planned.seconds = clockSeconds() - start;
  if (!layouts) return tl::unexpected(layouts.error());
  prepared->layouts = std::move(*layouts);
  planned.units = unitsOf(*prepared);
  const auto buckets = bucketLayouts(prepared->model, prepared->options, prepared->layouts);
  const LayoutRule* rule = layoutRule(spec.name);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const BucketLayout& b = buckets[i];
    PlannedBucket bucket{.name = b.name,
                         .copies = b.copies,
                         .instances = b.instances,
                         .problem = std::move(prepared->layouts.problems[i]),
                         .layout = std::move(prepared->layouts.layouts[i]),
                         .order = b.order,
                         .provenOptimal = b.provenOptimal,
                         .seconds = b.planSeconds};
    if (rule) bucket.cutTensors = tensorsWithCutBlocks(bucket.problem, *rule, bucket.layout);
    planned.buckets.push_back(std::move(bucket));
  }
  return planned;
}

/// Experts that have fewer slices in dim 0 than there are devices are cut on dim 1 where that divides, as
/// torchtitan's placement function does for FSDP2.
void chooseShardDims(LayoutProblem& problem) {
  for (PlanTensor& tensor : problem.tensors)
    if (tensor.name.find("experts.") != std::string::npos && tensor.shape.size() == 3 &&
        tensor.shape[0] < problem.devices && tensor.shape[1] % problem.devices == 0)
      tensor.shardDim = 1;
}

LayoutProblem subProblem(const LayoutProblem& problem, const std::vector<std::size_t>& tensors) {
  LayoutProblem part = problem;
  part.tensors.clear();
  for (const std::size_t i : tensors) part.tensors.push_back(problem.tensors[i]);
  return part;
}

/// A rule's own buckets of one of veScale's, laid out and verified.
Result<std::vector<PlannedBucket>> bucketsByRule(const PlannedBucket& base, const LayoutRule& rule) {
  LayoutProblem problem = base.problem;
  chooseShardDims(problem);
  std::vector<PlannedBucket> result;
  const auto lists = rule.buckets(problem.tensors);
  for (const std::vector<std::size_t>& list : lists) {
    PlannedBucket bucket{.name = base.name,
                         .copies = base.copies,
                         .instances = base.instances,
                         .problem = subProblem(problem, list),
                         .layout = {},
                         .order = {}};
    if (!result.empty()) bucket.name += fmt::format(".{}", result.size() + 1);
    auto layout = rule.layout(bucket.problem);
    if (!layout) return tl::unexpected(layout.error());
    if (const Errors errors = verifyLayout(rule.promise(bucket.problem), *layout); !errors.empty())
      return tl::unexpected(errors.front());
    bucket.layout = std::move(*layout);
    bucket.cutTensors = tensorsWithCutBlocks(bucket.problem, rule, bucket.layout);
    result.push_back(std::move(bucket));
  }
  return result;
}

/// Another system's rule on the same tensors.
PlannedSystem planByRule(const Scenario& scenario, const PlannedSystem& base, const LayoutRule& rule) {
  PlannedSystem planned = header(scenario, std::string(rule.name));
  const double start = clockSeconds();
  std::vector<std::pair<std::size_t, std::size_t>> parts;  // per bucket of `base`: first, one past the last
  for (const PlannedBucket& bucket : base.buckets) {
    auto buckets = bucketsByRule(bucket, rule);
    if (!buckets) {
      planned.refusal = buckets.error().text();
      planned.buckets.clear();
      return planned;
    }
    const std::size_t first = planned.buckets.size();
    for (PlannedBucket& each : *buckets) planned.buckets.push_back(std::move(each));
    parts.emplace_back(first, planned.buckets.size());
  }
  planned.seconds = clockSeconds() - start;
  for (const auto& [name, at] : base.units)
    for (std::size_t i = parts[at].first; i < parts[at].second; ++i)
      planned.units.emplace_back(
          i == parts[at].first ? name : fmt::format("{}.{}", name, i - parts[at].first + 1), i);
  return planned;
}

Result<std::vector<const LayoutRule*>> rulesOf(const PlanOptions& options) {
  std::vector<const LayoutRule*> rules;
  std::vector<std::string> known;
  for (const LayoutRule& rule : layoutRules()) known.emplace_back(rule.name);
  for (const std::string& name : options.rules) {
    if (name == "all") {
      for (const LayoutRule& rule : layoutRules()) rules.push_back(&rule);
      continue;
    }
    const LayoutRule* rule = layoutRule(name);
    if (!rule) {
      const std::string near = nearest(name, known);
      return fail(fmt::format("unknown system \"{}\"", name),
                  near.empty() ? fmt::format("known: all, {}", fmt::join(known, ", "))
                               : fmt::format("did you mean {}?", near));
    }
    rules.push_back(rule);
  }
  std::vector<const LayoutRule*> distinct;
  for (const LayoutRule* rule : rules)
    if (std::find(distinct.begin(), distinct.end(), rule) == distinct.end()) distinct.push_back(rule);
  return distinct;
}

std::optional<Error> planOne(const ModelGraph& graph, const Scenario& scenario, const PlanOptions& options,
                             const std::vector<const LayoutRule*>& rules, std::vector<PlannedSystem>& plans) {
  if (rules.empty()) {
    for (const SystemSpec& spec : scenario.systems) {
      auto planned = planSystem(graph, scenario, spec, options);
      if (!planned) return planned.error();
      plans.push_back(std::move(*planned));
    }
    return std::nullopt;
  }
  auto base = planSystem(graph, scenario, SystemSpec{.name = "vescale"}, options);
  if (!base) return base.error();
  for (const LayoutRule* rule : rules)
    plans.push_back(rule->name == "vescale" ? *base : planByRule(scenario, *base, *rule));
  return std::nullopt;
}

}  // namespace

ResultAll<std::vector<PlannedSystem>> makePlans(const PlanOptions& options) {
  auto scenarios = scenariosOf(options);
  if (!scenarios) return tl::unexpected(scenarios.error());
  const auto rules = rulesOf(options);
  if (!rules) return tl::unexpected(Errors{rules.error()});
  std::vector<PlannedSystem> plans;
  for (const Scenario& scenario : *scenarios) {
    const ModelGraph graph(scenario.model);
    std::vector<std::int64_t> sizes = options.groupSizes;
    if (sizes.empty()) sizes = {scenario.parallel.fsdp};
    for (const std::int64_t size : sizes) {
      const auto sized = withGroupSize(scenario, size);
      if (!sized) return tl::unexpected(Errors{sized.error()});
      if (auto error = planOne(graph, *sized, options, *rules, plans))
        return tl::unexpected(Errors{std::move(*error)});
    }
  }
  return plans;
}

namespace {

/// What the elements of veScale's buckets cost under the scenario.
Result<FusionProblem> fusionProblem(const Prepared& prepared, const Scenario& scenario) {
  auto optimizer = optimizerTraits(scenario.optimizer.name, scenario.optimizer.block);
  if (!optimizer) return tl::unexpected(optimizer.error());
  const SystemSpec& system = prepared.options.system;
  const auto parameter = static_cast<double>(bytesOf(scenario.precision.params));
  return FusionProblem{
      .groups = {},
      .bytesPerShardElement = 2 * parameter + optimizer->stateBytes,  // parameter, gradient, states
      .gatherBytes = bytesOf(scenario.precision.compute),
      .reduceBytes = bytesOf(scenario.precision.reduce),
      .gatherBuffers = 1 + std::max<std::int64_t>(1, system.forwardPrefetch),
      .reduceBuffers = 1 + system.reduceScatterInputs,
      .gathersPerStep = system.reshardAfterForward == ReshardAfterForward::never ? 1 : 2};
}

/// Whether two problems have the same layouts. Layers whose kernels differ may still hold equal tensors.
bool sameProblem(const LayoutProblem& a, const LayoutProblem& b) {
  const ProblemKey x{&a}, y{&b};
  return !(x < y) && !(y < x);
}

std::optional<Error> fuseOne(const Scenario& scenario, const PlanOptions& options,
                             std::int64_t layersPerBucket, std::vector<FusionPlan>& plans) {
  SystemSpec spec{.name = "vescale"};
  for (const SystemSpec& each : scenario.systems)
    if (each.name == spec.name) spec = each;
  const ModelGraph graph(scenario.model);
  SystemSpec single = spec;  // candidates are counted in layers, whatever the scenario fuses
  single.layersPerBucket = 1;
  auto prepared = prepareModel(graph, scenario, single, planningOptions(options));
  if (!prepared) return prepared.error();
  auto layouts = prepared->system->plan(prepared->model, prepared->options);
  if (!layouts) return layouts.error();
  const auto base = fusionProblem(*prepared, scenario);
  if (!base) return base.error();

  const std::vector<WrapUnit>& units = prepared->model.units;
  std::size_t group = 0;  // first one of the unit
  const auto sameUnit = [&](std::size_t first, std::size_t other, std::size_t offset) {
    const std::size_t groups = units[first].groups.size();
    if (units[first].root || units[other].root || units[other].groups.size() != groups) return false;
    for (std::size_t g = 0; g < groups; ++g)
      if (!sameProblem(layouts->problems[layouts->ofGroup[group + g]],
                       layouts->problems[layouts->ofGroup[group + offset + g]]))
        return false;
    return true;
  };
  for (std::size_t first = 0; first < units.size();) {
    const std::size_t groups = units[first].groups.size();
    std::size_t end = first + 1;
    while (end < units.size() && sameUnit(first, end, groups * (end - first))) ++end;
    if (!units[first].root && groups > 0) {
      FusionProblem problem = *base;
      problem.layers = static_cast<std::int64_t>(end - first);
      for (std::size_t g = 0; g < groups; ++g)
        problem.groups.push_back(layouts->problems[layouts->ofGroup[group + g]]);
      // Runs of fewer layers than asked for stay one bucket.
      const std::int64_t asked = std::min(layersPerBucket, problem.layers);
      auto choice = chooseFusion(problem, prepared->options.planning.buckets, asked);
      if (!choice) return choice.error();
      plans.push_back({.scenario = scenario.name,
                       .model = scenario.model.name,
                       .first = units[first].name,
                       .last = units[end - 1].name,
                       .devices = scenario.parallel.fsdp,
                       .choice = std::move(*choice)});
    }
    group += groups * (end - first);
    first = end;
  }
  return std::nullopt;
}

}  // namespace

ResultAll<std::vector<FusionPlan>> planFusion(const PlanOptions& options, std::int64_t layersPerBucket) {
  auto scenarios = scenariosOf(options);
  if (!scenarios) return tl::unexpected(scenarios.error());
  std::vector<FusionPlan> plans;
  for (const Scenario& scenario : *scenarios) {
    std::vector<std::int64_t> sizes = options.groupSizes;
    if (sizes.empty()) sizes = {scenario.parallel.fsdp};
    for (const std::int64_t size : sizes) {
      const auto sized = withGroupSize(scenario, size);
      if (!sized) return tl::unexpected(Errors{sized.error()});
      if (auto error = fuseOne(*sized, options, layersPerBucket, plans))
        return tl::unexpected(Errors{std::move(*error)});
    }
  }
  return plans;
}

}  // namespace vsim::app
