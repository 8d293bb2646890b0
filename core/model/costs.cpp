#include "core/model/costs.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "core/base/checked.h"
#include "core/model/costs_builder.h"

namespace vsim::core {
namespace {

constexpr Bytes kAllocationUnit = 512;  // of the CUDA caching allocator

void addAttentionBranch(CostBuilder& b, const ActivationRef& input) {
  if (b.config.attentionOf(b.layer) == AttentionKind::linear)
    addLinearAttention(b, input);
  else
    addAttention(b, input);
}

void addMlpBranch(CostBuilder& b, const ActivationRef& input) {
  const ModelConfig& c = b.config;
  if (c.isMoe(b.layer))
    addMoe(b, input);
  else
    addMlp(b, "", input, c.intermediate / b.work.tensorParallel, c.mlpBias, c.fusedGateUp);
}

void addLayer(CostBuilder& b) {
  const ModelConfig& c = b.config;
  const std::vector<std::int64_t> shape{b.work.microBatch, b.work.sequence, c.hidden};
  const ActivationRef input{"input", true};
  if (c.parallelBlock) {
    const ActivationRef normed = addNorm(b, "attn_norm", input, shape);
    addAttentionBranch(b, normed);
    addMlpBranch(b, c.parallelNorms ? addNorm(b, "mlp_norm", input, shape) : normed);
    addResidual(b, "parallel_residual", false);
    addResidual(b, "mlp_residual", true);
    return;
  }
  addAttentionBranch(b, c.preNorms ? addNorm(b, "attn_norm", input, shape) : input);
  if (c.postNorms) addNorm(b, "attn_post_norm", {"attn_branch"}, shape);
  addResidual(b, "attn_residual", false);
  const ActivationRef middle{"middle"};
  addMlpBranch(b, c.preNorms ? addNorm(b, "mlp_norm", middle, shape) : middle);
  if (c.postNorms) addNorm(b, "mlp_post_norm", {"mlp_branch"}, shape);
  addResidual(b, "mlp_residual", true);
}

/// Why `what` cannot be divided, or nothing.
std::optional<std::string> indivisible(std::string_view what, std::int64_t count, std::string_view by,
                                       std::int64_t parts) {
  if (count % parts == 0) return std::nullopt;
  return fmt::format("{} parallelism {} does not divide the model's {} {}", by, parts, count, what);
}

std::optional<std::string> layerProblem(const ModelConfig& c, std::int64_t layer, const WorkShape& w) {
  if (layer < 0 || layer >= std::max<std::int64_t>(c.layers, 1))
    return fmt::format("layer {} of a model of {} layers", layer, c.layers);
  const std::int64_t tp = w.tensorParallel;
  std::optional<std::string> problem;
  const auto check = [&](std::string_view what, std::int64_t count, std::string_view by, std::int64_t parts) {
    if (!problem) problem = indivisible(what, count, by, parts);
  };
  if (!c.layerAttention.empty() && std::ssize(c.layerAttention) <= layer)
    return fmt::format("the model gives no attention kind for layer {}", layer);
  if (c.attentionOf(layer) == AttentionKind::linear) {
    check("linear attention heads", c.linearValueHeads > 0 ? c.linearValueHeads : c.heads, "tensor", tp);
    check("linear attention key heads", c.linearKeyHeads > 0 ? c.linearKeyHeads : c.heads, "tensor", tp);
  } else {
    check("attention heads", c.heads, "tensor", tp);
    if (c.attention == AttentionKind::grouped && c.kvHeads > 0)
      check("key-value heads", c.kvHeads, "tensor", tp);
  }
  if (c.isMoe(layer)) {
    if (c.experts < 1 || c.expertsPerToken < 1)
      return fmt::format("layer {} has routed experts, but the model gives {} experts, {} per token", layer,
                         c.experts, c.expertsPerToken);
    check("experts", c.experts, "expert", w.expertParallel);
    check("shared expert width",
          c.sharedIntermediate > 0 ? c.sharedIntermediate : c.sharedExperts * c.expertIntermediate, "tensor",
          tp);
  } else {
    check("MLP width", c.intermediate, "tensor", tp);
  }
  return problem;
}

/// Products of these sizes stay below 2^63 / 512, so that no byte count overflows.
bool fits(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 512;
  for (const std::int64_t factor : factors) {
    const auto next = checkedMultiply(product, std::max<std::int64_t>(factor, 1));
    if (!next) return false;
    product = *next;
  }
  return true;
}

bool sizesFit(const ModelConfig& c, const WorkShape& w) {
  const std::int64_t perToken = std::max<std::int64_t>(1, c.expertsPerToken);
  const std::int64_t head = std::max({c.headDim, c.headDimValue, c.qkNopeDim, c.qkRopeDim, c.linearKeyDim,
                                      c.linearValueDim, c.linearBlock, std::int64_t{256}});
  const std::int64_t heads =
      std::max({c.heads, c.kvHeads, c.linearKeyHeads, c.linearValueHeads, std::int64_t{1}});
  const std::int64_t widest = std::max({c.hidden, c.vocabulary, c.intermediate, c.expertIntermediate,
                                        c.sharedIntermediate, c.maxPositions, c.qLoraRank, c.kvLoraRank});
  return fits({w.microBatch, w.sequence, perToken, widest}) && fits({c.hidden, widest, c.experts}) &&
         fits({w.microBatch, w.sequence, heads, head}) && fits({heads, head, c.hidden}) &&
         fits({w.microBatch, w.sequence, c.experts}) &&
         fits({w.microBatch, w.sequence / 64 + 1, heads, head, head}) &&
         fits({c.sharedExperts, c.expertIntermediate, w.microBatch, w.sequence});
}

std::optional<std::string> workProblem(const ModelConfig& c, ModuleKind kind, std::int64_t layer,
                                       const WorkShape& w) {
  if (w.microBatch < 1 || w.sequence < 1)
    return fmt::format("micro-batch {} and sequence {} must be at least 1", w.microBatch, w.sequence);
  if (w.tensorParallel < 1 || w.expertParallel < 1)
    return fmt::format("parallelism must be at least 1 (tensor {}, expert {})", w.tensorParallel,
                       w.expertParallel);
  if (!sizesFit(c, w)) return "the model and batch are too large: a tensor would exceed 2^63 bytes";
  if (kind == ModuleKind::layer) return layerProblem(c, layer, w);
  if (kind == ModuleKind::finalNorm) return std::nullopt;
  return indivisible("vocabulary entries", c.vocabulary, "tensor", w.tensorParallel);
}

}  // namespace

Bytes SavedTensor::bytes() const {
  Bytes total = bytesOf(dtype);
  for (const std::int64_t d : shape) total *= d;
  return total;
}

Bytes ModuleCosts::savedBytes() const {
  Bytes total = 0;
  for (const SavedTensor& tensor : saved)
    if (tensor.newStorage && !tensor.layerInput && !tensor.parameterOrConstant)
      total += roundUp(tensor.bytes(), kAllocationUnit);
  return total;
}

Bytes ModuleCosts::recomputedBytes() const {
  Bytes total = 0;
  for (const SavedTensor& tensor : savedInRecompute)
    if (tensor.newStorage && !tensor.layerInput && !tensor.parameterOrConstant)
      total += roundUp(tensor.bytes(), kAllocationUnit);
  return total;
}

bool ModuleCosts::keepsInput() const {
  return std::any_of(saved.begin(), saved.end(), [](const SavedTensor& t) { return t.layerInput; });
}

Flops ModuleCosts::forwardFlops() const {
  Flops total = 0;
  for (const Operation& op : forward) total += op.flops;
  return total;
}

Result<ModuleCosts> moduleCosts(const ModelConfig& config, ModuleKind kind, std::int64_t layer,
                                const WorkShape& work) {
  if (auto problem = workProblem(config, kind, layer, work)) return fail(std::move(*problem));
  CostBuilder builder(config, work, kind == ModuleKind::layer ? layer : -1);
  switch (kind) {
    case ModuleKind::embedding:
      addEmbedding(builder);
      break;
    case ModuleKind::layer:
      addLayer(builder);
      setLayerTransients(builder);
      break;
    case ModuleKind::finalNorm:
      addFinalNorm(builder);
      break;
    case ModuleKind::head:
      addHeadAndLoss(builder);
      break;
  }
  return builder.finish();
}

}  // namespace vsim::core
