#include "core/plan/fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vsim::core {
namespace {

constexpr std::int64_t kMostLayers = 32;

std::vector<std::int64_t> candidateSizes(std::int64_t layers, std::int64_t asked) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t k = 1; k <= std::min(layers, kMostLayers); k *= 2) sizes.push_back(k);
  if (asked > 0 && std::find(sizes.begin(), sizes.end(), asked) == sizes.end()) sizes.push_back(asked);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

/// Full buckets, then the last one where layers are left over.
struct Planned {
  std::vector<BucketPlan> full, rest;
};

FusionCandidate candidate(const FusionProblem& problem, std::int64_t k, const Planned& planned) {
  FusionCandidate c{.layersPerBucket = k, .buckets = problem.layers / k, .provenOptimal = true};
  double held = 0, needed = 0, wire = 0, exposed = 0;
  const auto add = [&](const BucketPlan& plan, std::int64_t copies) {
    const Layout& layout = plan.found.layout;
    const auto count = static_cast<double>(copies);
    const auto total = static_cast<double>(layout.totalElements());
    c.shardElements += copies * layout.shardElements;
    held += count * total;
    needed += count * static_cast<double>(layout.unitElements);
    wire += count * (total - static_cast<double>(layout.shardElements));
  };
  for (const BucketPlan& plan : planned.full) {
    const Layout& layout = plan.found.layout;
    add(plan, c.buckets);
    c.gatheredElements += layout.totalElements();
    exposed += static_cast<double>(layout.totalElements() - layout.shardElements);
    c.provenOptimal = c.provenOptimal && plan.found.provenOptimal;
  }
  for (const BucketPlan& plan : planned.rest) add(plan, 1);
  if (!planned.rest.empty()) ++c.buckets;
  const auto gather = static_cast<double>(problem.gatherBytes),
             reduce = static_cast<double>(problem.reduceBytes);
  const auto alive = [&](std::int64_t buffers) {
    return static_cast<double>(std::min(buffers, c.buckets) * c.gatheredElements);
  };
  c.paddingRatio = needed > 0 ? held / needed - 1 : 0;
  c.shardBytes = static_cast<double>(c.shardElements) * problem.bytesPerShardElement;
  c.bufferBytes = alive(problem.gatherBuffers) * gather + alive(problem.reduceBuffers) * reduce;
  c.trafficBytes = wire * (static_cast<double>(problem.gathersPerStep) * gather + reduce);
  c.exposedBytes = exposed * (gather + reduce);
  return c;
}

double relative(double value, double base) { return base > 0 ? value / base : 1.0; }

double cost(const FusionCandidate& c, const FusionCandidate& single) {
  return relative(c.memoryBytes(), single.memoryBytes()) +
         relative(c.communicationBytes(), single.communicationBytes());
}

std::string gib(double bytes) { return fmt::format("{:.2f} GiB", bytes / (1 << 30)); }

std::string change(double value, double base) {
  const double percent = 100.0 * (relative(value, base) - 1.0);
  if (std::abs(percent) < 0.005) return "the same";
  return fmt::format("{:.2f} % {}", std::abs(percent), percent < 0 ? "less" : "more");
}

std::string comparison(const FusionCandidate& c, const FusionCandidate& single) {
  return fmt::format(
      "padding {:.3f} instead of {:.3f} %, shards {} instead of {}, buffers {} instead of {}, "
      "memory {}, communication {}",
      100.0 * c.paddingRatio, 100.0 * single.paddingRatio, gib(c.shardBytes), gib(single.shardBytes),
      gib(c.bufferBytes), gib(single.bufferBytes), change(c.memoryBytes(), single.memoryBytes()),
      change(c.communicationBytes(), single.communicationBytes()));
}

std::string reasonOf(const FusionChoice& choice, bool asked) {
  const FusionCandidate& chosen = choice.candidates[choice.chosen];
  const FusionCandidate& single = choice.candidates.front();
  if (choice.candidates.size() == 1) return "there is only one such layer";
  if (chosen.layersPerBucket > 1)
    return fmt::format("{}against one layer a bucket: {}", asked ? "as asked; " : "",
                       comparison(chosen, single));
  if (asked) return "as asked";
  // The runner-up says what fusing would have cost.
  const FusionCandidate& next = choice.candidates[1];
  return fmt::format("{} layers a bucket would have: {}", next.layersPerBucket, comparison(next, single));
}

}  // namespace

LayoutProblem fusedProblem(const LayoutProblem& layer, std::int64_t layers) {
  LayoutProblem fused = layer;
  fused.tensors.clear();
  fused.tensors.reserve(layer.tensors.size() * static_cast<std::size_t>(layers));
  for (std::int64_t k = 0; k < layers; ++k)
    for (PlanTensor tensor : layer.tensors) {
      tensor.name = fmt::format("{}.{}", k, tensor.name);
      fused.tensors.push_back(std::move(tensor));
    }
  return fused;
}

Result<FusionChoice> chooseFusion(const FusionProblem& problem, const BucketPlanOptions& options,
                                  std::int64_t layersPerBucket) {
  if (layersPerBucket > problem.layers)
    return fail(fmt::format("{} layers a bucket of {} equal ones", layersPerBucket, problem.layers));
  // One call: all candidates share the budget.
  std::vector<LayoutProblem> problems;
  const std::vector<std::int64_t> sizes = candidateSizes(problem.layers, layersPerBucket);
  for (const std::int64_t k : sizes)
    for (const std::int64_t layers : {k, problem.layers % k})
      for (const LayoutProblem& group : problem.groups)
        if (layers > 0) problems.push_back(fusedProblem(group, layers));
  auto plans = planBuckets(problems, options);
  if (!plans) return tl::unexpected(std::move(plans.error()));

  FusionChoice choice;
  auto next = plans->begin();
  const auto take = [&] {
    const auto end = next + static_cast<std::ptrdiff_t>(problem.groups.size());
    std::vector<BucketPlan> taken(next, end);
    next = end;
    return taken;
  };
  for (const std::int64_t k : sizes) {
    Planned planned{.full = take(), .rest = {}};
    if (problem.layers % k > 0) planned.rest = take();
    choice.candidates.push_back(candidate(problem, k, planned));
  }
  const FusionCandidate& single = choice.candidates.front();
  for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
    const FusionCandidate& c = choice.candidates[i];
    const bool better = cost(c, single) < cost(choice.candidates[choice.chosen], single);
    if (layersPerBucket > 0 ? c.layersPerBucket == layersPerBucket : better) choice.chosen = i;
  }
  choice.reason = reasonOf(choice, layersPerBucket > 0);
  return choice;
}

}  // namespace vsim::core
