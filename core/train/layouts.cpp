// From wrap units to layout problems, and from layouts to what a report lists.

#include <algorithm>
#include <map>

#include "core/base/checked.h"
#include "core/optim/optimizer.h"
#include "core/plan/granularity.h"
#include "core/plan/verifier.h"
#include "core/train/context.h"

namespace vsim::core {
namespace {

/// Granularity rules in force: the optimizer's block first, so that any rule of the scenario overrides it.
std::vector<BlockRule> blockRules(const TrainOptions& options) {
  std::vector<BlockRule> rules;
  if (options.optimizer.name == "adam8bit" && options.optimizer.block.empty())
    rules.push_back({.match = "*", .elements = kDefaultQuantisationBlock});
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

Result<LayoutSet> layoutProblems(const TrainModel& model, const TrainOptions& options, std::int64_t unit,
                                 std::int64_t align) {
  const ParallelSpec& p = options.parallel;
  const std::int64_t expertDevices = p.fsdp * p.tensor / std::max<std::int64_t>(1, p.expert);
  const std::vector<BlockRule> rules = blockRules(options);
  LayoutSet set;
  std::map<int, std::size_t> known;  // kind -> problem: equal groups need no second look
  for (const WrapUnit& wrap : model.units) {
    for (const GroupSpec& group : wrap.groups) {
      const auto [at, added] = known.try_emplace(group.kind, set.problems.size());
      set.ofGroup.push_back(at->second);
      if (!added) continue;
      LayoutProblem problem{.devices = group.expert ? expertDevices : p.fsdp,
                            .unit = unit,
                            .align = align,
                            .elementBytes = bytesOf(options.precision.compute)};
      for (const TensorSpec& tensor : *group.tensors) {
        auto block = blockElements(rules, tensor.name, tensor.shape);
        if (!block) return tl::unexpected(block.error());
        problem.tensors.push_back(
            {.name = tensor.name, .shape = tensor.shape, .elements = tensor.elements(), .block = *block});
      }
      set.problems.push_back(std::move(problem));
    }
  }
  return set;
}

Result<LayoutSet> verified(LayoutSet set) {
  for (std::size_t i = 0; i < set.layouts.size(); ++i)
    if (const Errors errors = verifyLayout(set.problems[i], set.layouts[i]); !errors.empty())
      return tl::unexpected(errors.front());
  return set;
}

std::vector<BucketLayout> bucketLayouts(const TrainModel& model, const TrainOptions& options,
                                        const LayoutSet& set) {
  std::vector<BucketLayout> result(set.problems.size());
  std::size_t i = 0;
  for (const WrapUnit& wrap : model.units) {
    for (const GroupSpec& group : wrap.groups) {
      const std::size_t at = set.ofGroup[i++];
      BucketLayout& bucket = result[at];
      if (bucket.name.empty()) {
        const Layout& layout = set.layouts[at];
        bucket = {.name = group.name,
                  .copies = 0,
                  .instances = group.expert ? options.parallel.expert : options.parallel.tensor,
                  .devices = layout.devices,
                  .tensors = static_cast<std::int64_t>(set.problems[at].tensors.size()),
                  .elements = layout.unitElements,
                  .shardElements = layout.shardElements,
                  .lowerBound = layout.lowerBound,
                  .unitElements = set.problems[at].unit,
                  .provenOptimal = layout.shardElements == layout.lowerBound};
        if (!set.plans.empty()) {
          bucket.order = set.plans[at].found.order;
          bucket.planSeconds = set.plans[at].seconds;
        }
      }
      ++bucket.copies;
    }
  }
  return result;
}

double BuiltProgram::paddingRatio() const {
  double held = 0, needed = 0;
  for (const BucketLayout& layout : layouts) {
    const double copies = static_cast<double>(layout.copies * layout.instances);
    held += copies * static_cast<double>(layout.shardElements) * static_cast<double>(layout.devices);
    needed += copies * static_cast<double>(layout.elements);
  }
  return needed > 0 ? held / needed - 1.0 : 0.0;
}

}  // namespace vsim::core
