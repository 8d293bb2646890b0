#include "core/model/layer_tensors.h"

#include "core/model/tensor_names.h"

namespace vsim::core {
namespace {

/// How tensor parallelism cuts a linear layer: its outputs, its inputs, or not at all (Megatron's scheme).
enum class Cut { columns, rows, none };

class TensorList {
 public:
  TensorList(const ModelConfig& config, const TensorNames& names) : config_(config), names_(names) {}

  TensorSpec& tensor(std::string name, std::vector<std::int64_t> shape, int parallelDim) {
    list.push_back({.name = std::move(name),
                    .shape = std::move(shape),
                    .dtype = config_.dtype,
                    .tensorParallelDim = parallelDim});
    return list.back();
  }
  void linear(const std::string& name, std::int64_t outputs, std::int64_t inputs, Cut cut, bool bias) {
    int dim = cut == Cut::columns ? 0 : cut == Cut::rows ? 1 : -1;
    if (names_.transposedLinear && dim >= 0) dim = 1 - dim;
    tensor(name + ".weight",
           names_.transposedLinear ? std::vector{inputs, outputs} : std::vector{outputs, inputs}, dim);
    if (bias) tensor(name + ".bias", {outputs}, cut == Cut::columns ? 0 : -1);
  }
  void norm(const std::string& name, std::int64_t size) {
    tensor(name + ".weight", {size}, -1);
    if (config_.norm == NormKind::layer) tensor(name + ".bias", {size}, -1);
  }
  void buffer(std::string name, std::vector<std::int64_t> shape) {
    TensorSpec& added = tensor(std::move(name), std::move(shape), -1);
    added.dtype = DType::fp32;
    added.buffer = true;
  }

  std::vector<TensorSpec> list;

 private:
  const ModelConfig& config_;
  const TensorNames& names_;
};

/// "prefix.name", or "name" without a prefix.
std::string join(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

void addGroupedAttention(TensorList& out, const ModelConfig& c, const TensorNames& names) {
  const std::string prefix = names.attention;
  const std::int64_t queryRows = c.heads * c.headDim, keyRows = c.kvHeads * c.headDim;
  const std::int64_t valueRows = c.kvHeads * c.headDimValue, outputColumns = c.heads * c.headDimValue;
  const auto output = [&] {
    out.linear(join(prefix, names.output), c.hidden, outputColumns, Cut::rows, c.outputBias);
  };
  if (c.attentionSinks) out.tensor(join(prefix, "sinks"), {c.heads}, 0);
  if (names.outputFirst) output();
  const auto query = [&] {
    out.linear(join(prefix, names.query), queryRows * (c.attentionGate ? 2 : 1), c.hidden, Cut::columns,
               c.qkvBias);
  };
  if (c.fusedQkv) {
    out.linear(join(prefix, names.fusedQkv), queryRows + keyRows + valueRows, c.hidden, Cut::columns,
               c.qkvBias);
  } else {
    if (!names.keyValueQuery) query();
    out.linear(join(prefix, names.key), keyRows, c.hidden, Cut::columns, c.qkvBias);
    out.linear(join(prefix, names.value), valueRows, c.hidden, Cut::columns, c.qkvBias);
    if (names.keyValueQuery) query();
  }
  if (!names.outputFirst) output();
  if (!c.qkNorm) return;
  // A norm over all heads together is cut with them, one per head is the same on every rank.
  out.tensor(join(prefix, "q_norm.weight"), {c.qkNormFullWidth ? queryRows : c.headDim},
             c.qkNormFullWidth ? 0 : -1);
  out.tensor(join(prefix, "k_norm.weight"), {c.qkNormFullWidth ? keyRows : c.headDim},
             c.qkNormFullWidth ? 0 : -1);
}

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): low-rank queries and keys-values.
void addLatentAttention(TensorList& out, const ModelConfig& c, const TensorNames& names) {
  const std::string prefix = names.attention;
  const std::int64_t queryRows = c.heads * (c.qkNopeDim + c.qkRopeDim);
  if (c.qLoraRank > 0) {
    out.linear(join(prefix, "q_a_proj"), c.qLoraRank, c.hidden, Cut::none, c.qkvBias);
    out.norm(join(prefix, "q_a_layernorm"), c.qLoraRank);
    out.linear(join(prefix, "q_b_proj"), queryRows, c.qLoraRank, Cut::columns, false);
  } else {
    out.linear(join(prefix, "q_proj"), queryRows, c.hidden, Cut::columns, false);
  }
  out.linear(join(prefix, "kv_a_proj_with_mqa"), c.kvLoraRank + c.qkRopeDim, c.hidden, Cut::none, c.qkvBias);
  out.norm(join(prefix, "kv_a_layernorm"), c.kvLoraRank);
  out.linear(join(prefix, "kv_b_proj"), c.heads * (c.qkNopeDim + c.headDimValue), c.kvLoraRank, Cut::columns,
             false);
  out.linear(join(prefix, "o_proj"), c.hidden, c.heads * c.headDimValue, Cut::rows, c.outputBias);
}

/// Gated delta rule with a short convolution (Qwen3-Next).
void addGatedDelta(TensorList& out, const ModelConfig& c) {
  const std::int64_t keys = c.linearKeyHeads * c.linearKeyDim, values = c.linearValueHeads * c.linearValueDim;
  out.tensor("linear_attn.dt_bias", {c.linearValueHeads}, 0);
  out.tensor("linear_attn.A_log", {c.linearValueHeads}, 0);
  out.tensor("linear_attn.conv1d.weight", {2 * keys + values, 1, c.linearConvKernel}, 0);
  out.linear("linear_attn.in_proj_qkvz", 2 * keys + 2 * values, c.hidden, Cut::columns, false);
  out.linear("linear_attn.in_proj_ba", 2 * c.linearValueHeads, c.hidden, Cut::columns, false);
  out.tensor("linear_attn.norm.weight", {c.linearValueDim}, -1);
  out.linear("linear_attn.out_proj", c.hidden, values, Cut::rows, false);
}

/// Lightning attention (MiniMax-Text-01, arXiv 2501.08313): decays are stored as buffers.
void addLightning(TensorList& out, const ModelConfig& c) {
  const std::int64_t heads = c.linearValueHeads, width = heads * c.linearValueDim, block = c.linearBlock;
  out.buffer("self_attn.slope_rate", {heads, 1, 1});
  out.buffer("self_attn.query_decay", {heads, block, 1});
  out.buffer("self_attn.key_decay", {heads, block, 1});
  out.buffer("self_attn.diagonal_decay", {1, heads, block, block});
  out.tensor("self_attn.norm.weight", {width}, 0);
  out.linear("self_attn.qkv_proj", 3 * width, c.hidden, Cut::columns, false);
  out.linear("self_attn.out_proj", c.hidden, width, Cut::rows, false);
  out.linear("self_attn.output_gate", width, c.hidden, Cut::columns, false);
}

void addAttention(TensorList& out, const ModelConfig& c, const TensorNames& names, std::int64_t layer) {
  switch (c.attentionOf(layer)) {
    case AttentionKind::grouped:
      return addGroupedAttention(out, c, names);
    case AttentionKind::mla:
      return addLatentAttention(out, c, names);
    case AttentionKind::linear:
      return c.linear == LinearKind::lightning ? addLightning(out, c) : addGatedDelta(out, c);
  }
}

void addMlp(TensorList& out, const ModelConfig& c, const TensorNames& names, const std::string& prefix,
            std::int64_t width) {
  if (c.mlp == MlpKind::plain) {
    out.linear(join(prefix, names.up), width, c.hidden, Cut::columns, c.mlpBias);
  } else if (c.fusedGateUp) {
    out.linear(join(prefix, names.fusedGateUp), 2 * width, c.hidden, Cut::columns, c.mlpBias);
  } else {
    out.linear(join(prefix, names.gate), width, c.hidden, Cut::columns, c.mlpBias);
    out.linear(join(prefix, names.up), width, c.hidden, Cut::columns, c.mlpBias);
  }
  out.linear(join(prefix, names.down), c.hidden, width, Cut::rows, c.mlpBias);
}

/// One tensor for all experts: [expert, in, out], the reverse of a linear layer's order (gpt-oss, llama-4).
void addFusedExperts(TensorList& out, const ModelConfig& c, const std::string& prefix) {
  const std::size_t first = out.list.size();
  out.tensor(prefix + "gate_up_proj", {c.experts, c.hidden, 2 * c.expertIntermediate}, 2);
  if (c.expertBias) out.tensor(prefix + "gate_up_proj_bias", {c.experts, 2 * c.expertIntermediate}, 1);
  out.tensor(prefix + "down_proj", {c.experts, c.expertIntermediate, c.hidden}, 1);
  if (c.expertBias) out.tensor(prefix + "down_proj_bias", {c.experts, c.hidden}, -1);
  for (std::size_t i = first; i < out.list.size(); ++i) out.list[i].routedExpert = true;
}

void addExperts(TensorList& out, const ModelConfig& c, const TensorNames& names, const std::string& mlp) {
  const std::string prefix = mlp + ".experts.";
  if (c.fusedExperts) return addFusedExperts(out, c, prefix);
  const std::int64_t width = c.expertIntermediate;
  struct Part {
    const char* suffix;
    bool down;
  };
  static constexpr Part kSplit[] = {
      {".gate_proj.weight", false}, {".up_proj.weight", false}, {".down_proj.weight", true}};
  static constexpr Part kMixtral[] = {{".w1.weight", false}, {".w2.weight", true}, {".w3.weight", false}};
  out.list.reserve(out.list.size() + static_cast<std::size_t>(3 * c.experts) + 16);
  for (std::int64_t expert = 0; expert < c.experts; ++expert) {
    const std::string start = prefix + std::to_string(expert);
    for (const Part& part : names.splitExpertsAsMixtral ? kMixtral : kSplit)
      out.tensor(start + part.suffix, part.down ? std::vector{c.hidden, width} : std::vector{width, c.hidden},
                 part.down ? 1 : 0)
          .routedExpert = true;
  }
}

void addMoe(TensorList& out, const ModelConfig& c, const TensorNames& names) {
  const std::string mlp = names.mlp;
  const auto router = [&] {
    out.linear(join(mlp, names.router), c.experts, c.hidden, Cut::none, c.routerBias);
    if (c.routerCorrectionBias) out.buffer(join(mlp, names.correctionBias), {c.experts});
  };
  if (names.routerFirst) router();
  addExperts(out, c, names, mlp);
  if (!names.routerFirst) router();
  if (c.sharedIntermediate > 0) addMlp(out, c, names, join(mlp, names.sharedExperts), c.sharedIntermediate);
  if (c.sharedExpertGate) out.linear(join(mlp, "shared_expert_gate"), 1, c.hidden, Cut::none, false);
}

void addSecondNorms(TensorList& out, const ModelConfig& c, const TensorNames& names) {
  const bool hasSecond = !c.parallelBlock || c.parallelNorms;
  if (!c.preNorms) {
    out.norm("post_attention_layernorm", c.hidden);
    out.norm("post_feedforward_layernorm", c.hidden);
    return;
  }
  if (hasSecond) out.norm(names.secondNorm, c.hidden);
  if (c.postNorms) {
    // With norms on both sides "post_attention_layernorm" stands behind attention, as its name says.
    out.norm("pre_feedforward_layernorm", c.hidden);
    out.norm("post_feedforward_layernorm", c.hidden);
  }
}

}  // namespace

std::vector<TensorSpec> layerTensors(const ModelConfig& config, std::int64_t layer) {
  const TensorNames names = tensorNames(config.modelType, config.parallelNorms);
  TensorList out(config, names);
  const auto attention = [&] { addAttention(out, config, names, layer); };
  const auto mlp = [&] {
    if (config.isMoe(layer))
      addMoe(out, config, names);
    else
      addMlp(out, config, names, names.mlp, config.intermediate);
  };
  const auto firstNorm = [&] {
    if (config.preNorms) out.norm(names.firstNorm, config.hidden);
  };
  const auto secondNorms = [&] { addSecondNorms(out, config, names); };
  switch (names.order) {
    case TensorNames::Order::attentionMlpNorms:
      attention(), mlp(), firstNorm(), secondNorms();
      break;
    case TensorNames::Order::normsAttentionMlp:
      firstNorm(), secondNorms(), attention(), mlp();
      break;
    case TensorNames::Order::normAttentionNormMlp:
      firstNorm(), attention(), secondNorms(), mlp();
      break;
    case TensorNames::Order::attentionNormMlpNorm:
      attention(), firstNorm(), mlp(), secondNorms();
      break;
  }
  return std::move(out.list);
}

std::vector<TensorSpec> embeddingTensors(const ModelConfig& config) {
  const TensorNames names = tensorNames(config.modelType, config.parallelNorms);
  TensorList out(config, names);
  out.tensor(std::string(names.embedding) + ".weight", {config.vocabulary, config.hidden}, 0);
  if (config.position == PositionKind::learned)
    out.tensor(std::string(names.positions) + ".weight", {config.maxPositions, config.hidden}, -1);
  if (config.embeddingNorm) out.norm(names.embeddingNorm, config.hidden);
  return std::move(out.list);
}

std::vector<TensorSpec> finalNormTensors(const ModelConfig& config) {
  const TensorNames names = tensorNames(config.modelType, config.parallelNorms);
  TensorList out(config, names);
  out.norm(names.finalNorm, config.hidden);
  return std::move(out.list);
}

std::vector<TensorSpec> headTensors(const ModelConfig& config) {
  const TensorNames names = tensorNames(config.modelType, config.parallelNorms);
  TensorList out(config, names);
  if (!config.tiedEmbeddings)
    out.tensor(headModule(config) + ".weight", {config.vocabulary, config.hidden}, 0);
  return std::move(out.list);
}

std::string layerPrefix(const ModelConfig& config, std::int64_t layer) {
  return std::string(tensorNames(config.modelType, config.parallelNorms).layers) + "." +
         std::to_string(layer) + ".";
}
std::string embeddingModule(const ModelConfig& config) {
  return tensorNames(config.modelType, config.parallelNorms).embedding;
}
std::string finalNormModule(const ModelConfig& config) {
  return tensorNames(config.modelType, config.parallelNorms).finalNorm;
}
std::string headModule(const ModelConfig& config) {
  return tensorNames(config.modelType, config.parallelNorms).head;
}

bool sameLayerKind(const ModelConfig& config, std::int64_t a, std::int64_t b) {
  return config.isMoe(a) == config.isMoe(b) && config.attentionOf(a) == config.attentionOf(b) &&
         config.isWindowed(a) == config.isWindowed(b);
}

}  // namespace vsim::core
