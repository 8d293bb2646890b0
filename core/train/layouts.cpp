// From wrap units to layout problems, and from layouts to what a report lists.

#include <algorithm>
#include <map>

#include "core/base/checked.h"
#include "core/plan/granularity.h"
#include "core/train/context.h"

namespace vsim::core {
namespace {

/// Granularity rules in force: the optimizer's block first, so that any rule of the scenario overrides it.
std::vector<BlockRule> blockRules(const TrainOptions& options) {
  std::vector<BlockRule> rules;
  if (options.optimizer.block.size() == 2) rules.push_back({.match = "*", .tile = options.optimizer.block});
  for (const GranularityRule& rule : options.granularity)
    rules.push_back({.match = rule.match,
                     .elements = rule.elements,
                     .rows = rule.rows,
                     .tile = rule.tile,
                     .whole = rule.whole});
  return rules;
}

}  // namespace

Result<std::vector<LayoutProblem>> layoutProblems(const TrainModel& model, const TrainOptions& options,
                                                  std::int64_t unit, std::int64_t align) {
  const ParallelSpec& p = options.parallel;
  const std::int64_t expertDevices = p.fsdp * p.tensor / std::max<std::int64_t>(1, p.expert);
  const std::vector<BlockRule> rules = blockRules(options);
  std::vector<LayoutProblem> problems;
  std::map<int, std::size_t> known;  // kind -> problem: equal groups need no second look
  for (const WrapUnit& wrap : model.units) {
    for (const GroupSpec& group : wrap.groups) {
      const auto [at, added] = known.try_emplace(group.kind, problems.size());
      if (!added) {
        problems.push_back(problems[at->second]);
        continue;
      }
      LayoutProblem problem{.devices = group.expert ? expertDevices : p.fsdp, .unit = unit, .align = align};
      for (const TensorSpec& tensor : group.tensors) {
        auto block = blockElements(rules, tensor.name, tensor.shape);
        if (!block) return tl::unexpected(block.error());
        problem.tensors.push_back(
            {.name = tensor.name, .shape = tensor.shape, .elements = tensor.elements(), .block = *block});
      }
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

std::vector<BucketLayout> bucketLayouts(const TrainModel& model, const std::vector<LayoutProblem>& problems,
                                        const std::vector<Layout>& layouts, std::int64_t unit) {
  std::vector<BucketLayout> result;
  std::map<int, std::size_t> known;
  std::size_t i = 0;
  for (const WrapUnit& wrap : model.units) {
    for (const GroupSpec& group : wrap.groups) {
      const auto [at, added] = known.try_emplace(group.kind, result.size());
      if (added) {
        result.push_back({.name = group.name,
                          .copies = 0,
                          .devices = layouts[i].devices,
                          .tensors = static_cast<std::int64_t>(problems[i].tensors.size()),
                          .elements = layouts[i].unitElements,
                          .shardElements = layouts[i].shardElements,
                          .lowerBound = layouts[i].lowerBound,
                          .unitElements = unit});
      }
      ++result[at->second].copies;
      ++i;
    }
  }
  return result;
}

double BuiltProgram::paddingRatio() const {
  double held = 0, needed = 0;
  for (const BucketLayout& layout : layouts) {
    const double copies = static_cast<double>(layout.copies);
    held += copies * static_cast<double>(layout.shardElements) * static_cast<double>(layout.devices);
    needed += copies * static_cast<double>(layout.elements);
  }
  return needed > 0 ? held / needed - 1.0 : 0.0;
}

}  // namespace vsim::core
