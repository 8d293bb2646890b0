#include "gui/model/plan_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/load.h"
#include "core/base/dtype.h"
#include "core/plan/layout_rules.h"

namespace vsim::gui {
namespace {

using app::PlannedSystem;

/// "key=value" a line.
std::vector<std::pair<std::string, std::string>> overridesOf(const std::string& configuration) {
  std::vector<std::pair<std::string, std::string>> overrides;
  for (std::size_t at = 0; at < configuration.size();) {
    const std::size_t end = std::min(configuration.find('\n', at), configuration.size());
    const std::string line = configuration.substr(at, end - at);
    if (const std::size_t equals = line.find('='); equals != std::string::npos)
      overrides.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    at = end + 1;
  }
  return overrides;
}

bool sameLayouts(const PlannedSystem& a, const PlannedSystem& b) {
  return a.refusal == b.refusal && a.units.size() == b.units.size() &&
         std::ranges::equal(
             a.buckets, b.buckets, [](const app::PlannedBucket& x, const app::PlannedBucket& y) {
               return x.layout.shardElements == y.layout.shardElements &&
                      x.layout.offsets == y.layout.offsets && x.layout.devices == y.layout.devices;
             });
}

/// Systems that know no blocks are planned without any; the scenario asks for them all the same, and the rule
/// on veScale's buckets knows which.
void takeBlocks(PlannedSystem& plan, const PlannedSystem& rule) {
  for (std::size_t i = 0; i < plan.buckets.size(); ++i) {
    plan.buckets[i].problem = rule.buckets[i].problem;
    plan.buckets[i].cutTensors = rule.buckets[i].cutTensors;
  }
}

app::PlanOptions planOptions(const PlanSource& source, std::int64_t groupSize) {
  app::PlanOptions options{.scenario = source.scenario};
  if (groupSize > 0) options.groupSizes = {groupSize};
  return options;
}

std::string typeOfParameters(const PlanSource& source) {
  const auto scenarios = app::loadScenarios(source.scenario);
  return scenarios && !scenarios->empty() ? std::string(core::name(scenarios->front().precision.params)) : "";
}

/// The plans of the source's sweep point.
std::vector<PlannedSystem> atPoint(std::vector<PlannedSystem> plans, const PlanSource& source) {
  std::vector<PlannedSystem> kept;
  for (PlannedSystem& plan : plans)
    if (plan.overrides == source.point) kept.push_back(std::move(plan));
  return kept.empty() ? std::move(plans) : std::move(kept);
}

}  // namespace

core::Result<PlanSource> planSource(const OpenedRun& run, int report) {
  if (run.scenarioText.empty())
    return core::fail(run.imported ? "Traces of other programs do not say how tensors were laid out."
                                   : "The scenario of this run was not kept.",
                      "Open a run of vsim, or a scenario, to see its plans.");
  PlanSource source;
  source.scenario.scenario = run.scenario.empty() ? "scenario.yaml" : run.scenario;
  source.scenario.text = run.scenarioText;
  source.scenario.overrides = overridesOf(run.configuration);
  if (report >= 0 && static_cast<std::size_t>(report) < run.reports.size()) {
    const core::RunFacts& facts = run.reports[static_cast<std::size_t>(report)].facts;
    source.point = facts.overrides;
    source.system = facts.system;
  }
  return source;
}

const std::vector<std::string>& comparedRules() {
  static const std::vector<std::string> rules{"vescale", "fsdp2", "fsdp1", "deepspeed", "megatron"};
  return rules;
}

std::int64_t PlanSet::find(const std::string& label) const {
  const auto at = std::ranges::find(choices, label, &PlanChoice::label);
  return at == choices.end() ? -1 : at - choices.begin();
}

core::ResultAll<PlanSet> makePlanSet(const PlanSource& source, std::int64_t groupSize,
                                     const std::atomic<bool>& cancelled) {
  app::PlanOptions options = planOptions(source, groupSize);
  auto systems = app::makePlans(options);
  if (!systems) return tl::unexpected(systems.error());
  PlanSet set{.devices = groupSize, .dtype = typeOfParameters(source), .choices = {}};
  for (PlannedSystem& plan : atPoint(std::move(*systems), source)) {
    set.devices = plan.devices;
    std::string label = plan.system;
    for (int n = 2; set.find(label) >= 0; ++n) label = fmt::format("{} #{}", plan.system, n);
    set.choices.push_back({.label = label, .asRun = true, .plan = std::move(plan)});
  }
  if (cancelled) return PlanSet{};
  options.rules = comparedRules();
  auto rules = app::makePlans(options);
  if (!rules) return tl::unexpected(rules.error());
  for (PlannedSystem& plan : atPoint(std::move(*rules), source)) {
    bool known = false;
    for (PlanChoice& choice : set.choices) {
      if (!choice.asRun || choice.plan.system != plan.system || !sameLayouts(choice.plan, plan)) continue;
      takeBlocks(choice.plan, plan);
      known = true;
    }
    if (!known)
      set.choices.push_back({.label = plan.system + " rule", .asRun = false, .plan = std::move(plan)});
  }
  return set;
}

GroupSizeStudy studyGroupSizes(const PlanSource& source, const std::atomic<bool>& cancelled) {
  GroupSizeStudy study;
  for (std::int64_t size = kSmallestGroup; size <= kLargestGroup; size *= 2) {
    if (cancelled) return {};
    const auto set = makePlanSet(source, size, cancelled);
    if (!set) {
      study.notes.push_back(fmt::format("{} GPUs: {}", size, set.error().front().message));
      continue;
    }
    study.sizes.push_back(size);
    for (const PlanChoice& choice : set->choices) {
      auto at = std::ranges::find(study.systems, choice.label);
      if (at == study.systems.end()) {
        study.systems.push_back(choice.label);
        study.values.emplace_back();
        at = study.systems.end() - 1;
      }
      auto& values = study.values[static_cast<std::size_t>(at - study.systems.begin())];
      values.resize(study.sizes.size());
      const PlannedSystem& plan = choice.plan;
      if (plan.refusal.empty())
        values.back() = {.refused = false,
                         .padding = plan.paddingRatio(),
                         .shardBytes = plan.shardElements() * plan.parameterBytes,
                         .cutTensors = plan.cutTensors()};
    }
  }
  for (auto& values : study.values) values.resize(study.sizes.size());
  return study;
}

namespace {

/// "L1[efsdp]" of "L1-L2[efsdp].2": the first layer of fused ones, without what a system split off.
std::string bucketKey(const std::string& name) {
  const std::string whole = name.substr(0, name.find('.'));
  const std::size_t bracket = whole.find('[');
  const std::string first = whole.substr(0, std::min(whole.find('-'), bracket));
  return bracket == std::string::npos ? first : first + whole.substr(bracket);
}

bool holds(const app::PlannedBucket& bucket, const std::string& tensor) {
  return !tensor.empty() && std::ranges::find(bucket.problem.tensors, tensor, &core::PlanTensor::name) !=
                                bucket.problem.tensors.end();
}

}  // namespace

std::int64_t bucketLike(const PlanChoice& choice, const std::string& bucket, const std::string& tensor) {
  const std::string key = bucketKey(bucket);
  std::int64_t found = -1;
  for (std::size_t i = 0; i < choice.plan.buckets.size(); ++i) {
    const app::PlannedBucket& each = choice.plan.buckets[i];
    if (bucketKey(each.name) != key) continue;
    if (holds(each, tensor)) return static_cast<std::int64_t>(i);
    if (found < 0 || each.name == bucket) found = static_cast<std::int64_t>(i);
  }
  if (found >= 0) return found;
  for (std::size_t i = 0; i < choice.plan.buckets.size(); ++i)
    if (holds(choice.plan.buckets[i], tensor)) return static_cast<std::int64_t>(i);
  return -1;
}

}  // namespace vsim::gui
