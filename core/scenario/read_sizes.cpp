#include <algorithm>
#include <initializer_list>

#include "core/base/checked.h"
#include "core/scenario/sections.h"

namespace vsim::core {
namespace {

constexpr std::int64_t kMaxSequence = std::int64_t{1} << 30, kMaxMicroBatch = std::int64_t{1} << 20;
/// Every layer of every micro-batch is issued one by one: more would not fit into memory.
constexpr std::int64_t kMaxLayerPasses = std::int64_t{1} << 17;

/// A number of the scenario with the node that it came from.
struct Given {
  std::int64_t value = 1;
  const Node* node = nullptr;  // null: left out
  bool wrong = false;          // present, and already reported
};

Given given(Section& section, std::string_view key, std::int64_t fallback, std::int64_t max) {
  Given result{fallback, section.find(key), false};
  if (result.node) result.wrong = !section.count(key, result.value, 1, max);
  return result;
}

/// Where a contradiction between several values is told: at what came from the command line, else at the
/// first of them that was written.
Place placeOf(std::initializer_list<const Node*> nodes) {
  for (const Node* node : nodes)
    if (node && node->place.source > 0) return node->place;
  for (const Node* node : nodes)
    if (node) return node->place;
  return {1, 1, 0};
}

/// The divisors of gcd(a, b) next to `wanted`, as "32 or 64"; b = 0 leaves b out.
std::string nearestDivisors(std::int64_t wanted, std::int64_t a, std::int64_t b) {
  const std::int64_t common = std::gcd(a, b);
  std::int64_t below = 1, above = 0;
  for (std::int64_t d = 1; d * d <= common; ++d) {
    if (common % d != 0) continue;
    for (const std::int64_t divisor : {d, common / d}) {
      if (divisor <= wanted) below = std::max(below, divisor);
      if (divisor > wanted) above = above == 0 ? divisor : std::min(above, divisor);
    }
  }
  return above == 0 ? fmt::format("nearest: {}", below) : fmt::format("nearest: {} or {}", below, above);
}

/// The multiples of `unit` next to `wanted`.
std::string nearestMultiples(std::int64_t wanted, std::int64_t unit) {
  const std::int64_t below = wanted / unit * unit;
  return below == 0 ? fmt::format("nearest: {}", unit)
                    : fmt::format("nearest: {} or {}", below, below + unit);
}

struct Sizes {
  Given gpus, fsdp, replicate, expert, tensor;
};

/// fsdp * replicate * tensor = gpus; what is left out follows. False when they cannot be made to agree.
bool agree(Problems& problems, Sizes& s) {
  if (s.gpus.wrong || s.fsdp.wrong || s.replicate.wrong || s.tensor.wrong) return false;
  const bool followsFsdp = s.fsdp.node == nullptr;
  Given& follows = followsFsdp ? s.fsdp : s.replicate;
  const Given& other = followsFsdp ? s.replicate : s.fsdp;
  const char* name = followsFsdp ? "replicate" : "fsdp";
  const auto known = checkedMultiply(other.value, s.tensor.value);
  const Place place = placeOf({s.replicate.node, s.fsdp.node, s.tensor.node, s.gpus.node});
  if (!known || *known > kMaxGpus) {
    problems.add(place, fmt::format("parallel: {} {} · tensor {} is more than {} GPUs", name, other.value,
                                    s.tensor.value, kMaxGpus));
    return false;
  }
  const std::int64_t gpus = s.gpus.value;
  if (!follows.node) {
    if (gpus % *known == 0) {
      follows.value = gpus / *known;
      return true;
    }
    const Place at = placeOf({s.gpus.node, s.fsdp.node, s.tensor.node});
    problems.add(at,
                 fmt::format("cluster.gpus: {} is not a multiple of {} {} · tensor {}", gpus, name,
                             other.value, s.tensor.value),
                 nearestMultiples(gpus, *known));
    return false;
  }
  const auto product = checkedMultiply(*known, s.replicate.value);
  if (product && *product == gpus) return true;
  const std::string value = product ? fmt::format("{}", *product) : "too many";
  const std::string hint = gpus % *known == 0
                               ? fmt::format("replicate {} fits; left out, it follows", gpus / *known)
                               : "gpus " + nearestMultiples(gpus, *known);
  problems.add(placeOf({s.replicate.node, s.fsdp.node, s.tensor.node, s.gpus.node}),
               fmt::format("parallel: fsdp {} · replicate {} · tensor {} = {}, but cluster.gpus is {}",
                           s.fsdp.value, s.replicate.value, s.tensor.value, value, gpus),
               hint);
  return false;
}

/// The expert group against the model and against the ranks that it is carved out of: one message, the first
/// that applies. `group` = fsdp * tensor, 0 when unknown; `model` may be null.
void checkExperts(Problems& problems, const Sizes& sizes, std::int64_t group, const ModelConfig* model) {
  const Given& expert = sizes.expert;
  if (!expert.node || expert.wrong || expert.value == 1) return;
  const std::int64_t experts = model ? model->experts : 0;
  std::string problem, hint = nearestDivisors(expert.value, group == 0 ? experts : group, experts);
  if (model && experts == 0) {
    problem = fmt::format("{}, but {} has no experts", expert.value, model->name);
    hint = "leave it out";
  } else if (model && expert.value > experts) {
    problem = fmt::format("{} is more than the model's {} experts", expert.value, experts);
  } else if (model && experts % expert.value != 0) {
    problem = fmt::format("{} does not divide the model's {} experts", expert.value, experts);
  } else if (group > 0 && group % expert.value != 0) {
    problem = fmt::format("{} does not divide fsdp {} · tensor {}", expert.value, sizes.fsdp.value,
                          sizes.tensor.value);
  }
  if (!problem.empty()) problems.add(expert.node->place, "parallel.expert: " + problem, hint);
}

void checkTensorOfModel(Problems& problems, const Given& tensor, const ModelConfig& model) {
  if (!tensor.node || tensor.wrong || tensor.value == 1) return;
  const bool keysAreCut = model.attention == AttentionKind::grouped && model.kvHeads > 0;
  const std::int64_t keys = keysAreCut ? model.kvHeads : 0;
  const auto refuse = [&](std::string_view what, std::int64_t count) {
    problems.add(
        tensor.node->place,
        fmt::format("parallel.tensor: {} does not divide the model's {} {}", tensor.value, count, what),
        nearestDivisors(tensor.value, std::gcd(model.heads, model.vocabulary), keys));
  };
  if (model.heads % tensor.value != 0)
    refuse("attention heads", model.heads);
  else if (keys % tensor.value != 0)
    refuse("key/value heads", keys);
  else if (model.intermediate % tensor.value != 0)
    refuse("columns of the MLP", model.intermediate);
  else if (model.vocabulary % tensor.value != 0)
    refuse("vocabulary entries", model.vocabulary);
}

/// Sequences of all replicas in one micro-batch step, in tokens; nothing (reported) when it overflows.
std::optional<std::int64_t> tokensPerMicroStep(Problems& problems, const Section& batch, const Sizes& sizes,
                                               const BatchSpec& spec) {
  auto tokens = checkedMultiply(sizes.fsdp.value, sizes.replicate.value);
  for (const std::int64_t factor : {spec.sequence, spec.microBatch, spec.accumulation})
    if (tokens) tokens = checkedMultiply(*tokens, factor);
  if (tokens && *tokens <= kMaxTokens) return *tokens / spec.accumulation;
  problems.add(batch.place(), fmt::format("batch: more than {} tokens in one step", kMaxTokens));
  return std::nullopt;
}

bool readGlobalTokens(Problems& problems, const Node& node, std::int64_t perMicroStep, BatchSpec& spec) {
  const auto tokens = countAt(problems, node, "batch.global_tokens", 1, kMaxTokens);
  if (!tokens) return false;
  const std::int64_t below = *tokens / perMicroStep;
  if (*tokens % perMicroStep == 0 && below <= kMaxMicroBatch) {
    spec.accumulation = below;
    return true;
  }
  if (below > kMaxMicroBatch) {
    problems.add(node.place, fmt::format("batch.global_tokens: {} needs more than {} accumulation steps",
                                         *tokens, kMaxMicroBatch));
    return false;
  }
  std::string hint = "nearest: ";
  if (below > 0) hint += fmt::format("{} (accumulation {}) or ", below * perMicroStep, below);
  hint += fmt::format("{} (accumulation {})", (below + 1) * perMicroStep, below + 1);
  problems.add(node.place,
               fmt::format("batch.global_tokens: {} is not a multiple of fsdp · replicate · sequence · "
                           "micro_batch = {}",
                           *tokens, perMicroStep),
               hint);
  return false;
}

/// False when something about the batch is wrong, and was reported.
bool readBatch(Problems& problems, Section& top, bool sizesRight, const Sizes& sizes, BatchSpec& spec) {
  Section batch(problems, top.find("batch"), "batch");
  const Given sequence = given(batch, "sequence", spec.sequence, kMaxSequence);
  const Given microBatch = given(batch, "micro_batch", spec.microBatch, kMaxMicroBatch);
  const Given accumulation = given(batch, "accumulation", spec.accumulation, kMaxMicroBatch);
  const Node* tokens = batch.find("global_tokens");
  batch.finish();
  if (sequence.wrong || microBatch.wrong || accumulation.wrong) return false;
  spec = {sequence.value, microBatch.value, accumulation.value};
  if (tokens && accumulation.node) {
    problems.add(tokens->place, "batch: either global_tokens or accumulation, not both");
    return false;
  }
  if (!sizesRight) return true;
  const auto perMicroStep = tokensPerMicroStep(problems, batch, sizes, spec);
  return perMicroStep && (!tokens || readGlobalTokens(problems, *tokens, *perMicroStep, spec));
}

void checkPreset(ReadContext& context, const Place& place, const std::string& name) {
  const auto& known = context.options.clusterPresets;
  if (known.empty() || std::find(known.begin(), known.end(), name) != known.end()) return;
  context.problems.add(place, fmt::format("cluster.preset: {} is not known", shownValue(name)),
                       suggestion(name, known, "clusters"));
}

Given readCluster(ReadContext& context, Section& top, Scenario& scenario) {
  const Node* node = top.require("cluster", "for example cluster: {preset: h100-rail-optimized, gpus: 64}");
  Section cluster(context.problems, node, "cluster");
  const Node *preset = cluster.find("preset"), *profile = cluster.find("profile");
  if (!profile) cluster.require("preset", "vsim topo --list shows the known ones");
  cluster.require("gpus", "the number of GPUs");
  const Given gpus = given(cluster, "gpus", scenario.cluster.gpus, kMaxGpus);
  if (profile && preset)
    context.problems.add(profile->place, "cluster: either preset or profile, not both");
  else if (profile)
    scenario.cluster.profilePath = fileNamedAt(context, *profile, "cluster.profile");
  else if (cluster.word("preset", scenario.cluster.preset))
    checkPreset(context, preset->place, scenario.cluster.preset);
  cluster.finish();
  Given result = gpus;
  result.wrong = gpus.wrong || !gpus.node;
  return result;
}

}  // namespace

void readSizes(ReadContext& context, Section& top, ModelState model, Scenario& scenario) {
  Problems& problems = context.problems;
  Sizes sizes;
  sizes.gpus = readCluster(context, top, scenario);
  Section parallel(problems, top.find("parallel"), "parallel");
  sizes.fsdp = given(parallel, "fsdp", 1, kMaxGpus);
  sizes.replicate = given(parallel, "replicate", 1, kMaxGpus);
  sizes.expert = given(parallel, "expert", 1, kMaxGpus);
  sizes.tensor = given(parallel, "tensor", 1, kMaxGpus);
  parallel.finish();
  const bool right = agree(problems, sizes);
  const std::int64_t group = right ? sizes.fsdp.value * sizes.tensor.value : 0;
  const bool known = model == ModelState::known;
  checkExperts(problems, sizes, group, known ? &scenario.model : nullptr);
  if (known) checkTensorOfModel(problems, sizes.tensor, scenario.model);
  const bool batchRight = readBatch(problems, top, right, sizes, scenario.batch);
  const ModelConfig& config = scenario.model;
  if (known && config.position == PositionKind::learned && config.maxPositions > 0 &&
      scenario.batch.sequence > config.maxPositions)
    problems.add(top.find("batch") ? top.find("batch")->place : top.place(),
                 fmt::format("batch.sequence: {} is longer than the {} positions that {} has learned",
                             scenario.batch.sequence, config.maxPositions, config.name));
  if (known && batchRight && config.layers * scenario.batch.accumulation > kMaxLayerPasses)
    problems.add(top.find("batch") ? top.find("batch")->place : top.place(),
                 fmt::format("batch.accumulation: {} micro-batches of {} layers are too many to simulate",
                             scenario.batch.accumulation, config.layers),
                 fmt::format("at most {}", kMaxLayerPasses / config.layers));
  scenario.cluster.gpus = sizes.gpus.value;
  scenario.parallel = {sizes.fsdp.value, sizes.replicate.value, sizes.expert.value, sizes.tensor.value};
}

}  // namespace vsim::core
