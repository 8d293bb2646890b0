#include <fmt/format.h>

#include <algorithm>

#include "core/model/hf_architectures.h"

// Sources as in hf_dense.cpp.
namespace vsim::core {
namespace {

std::int64_t headDimOf(ConfigFields& fields) { return fields.countOr({"head_dim"}, ConfigLimits::width, 0); }

void readExperts(ConfigFields& fields, ModelConfig& config, ConfigFields::Names countNames,
                 ConfigFields::Names widthNames) {
  config.experts = fields.count(countNames, ConfigLimits::experts);
  config.expertsPerToken = fields.count({"num_experts_per_tok"}, ConfigLimits::experts);
  config.expertIntermediate = fields.count(widthNames, ConfigLimits::width);
  if (config.expertsPerToken > config.experts && (config.experts > 1 || fields.sound()))
    fields.error("num_experts_per_tok",
                 fmt::format("a token cannot meet {} of {} experts", config.expertsPerToken, config.experts));
}

void readSharedExperts(ConfigFields& fields, ModelConfig& config) {
  config.sharedExperts = fields.numberOr({"n_shared_experts"}, ConfigLimits::experts, 0);
  config.sharedIntermediate = config.sharedExperts * config.expertIntermediate;
}

/// Width of the dense layers, which only exist when some layer is not MoE.
void readDenseWidth(ConfigFields& fields, ModelConfig& config, ConfigFields::Names names) {
  const bool anyDense = std::find(config.moe.begin(), config.moe.end(), false) != config.moe.end();
  const std::int64_t width =
      anyDense ? fields.count(names, ConfigLimits::width) : fields.countOr(names, ConfigLimits::width, 0);
  config.intermediate = anyDense ? width : 0;
}

/// Largest layer index that a list may name; generous when the number of layers is itself wrong.
std::int64_t lastLayer(const ModelConfig& config) {
  return config.layers > 1 ? config.layers - 1 : ConfigLimits::layers;
}

void allMoe(ModelConfig& config) { config.moe.assign(static_cast<std::size_t>(config.layers), true); }

/// The first layers dense, then every `moe_layer_freq`-th with experts (DeepSeek, GLM).
void readDenseFirst(ConfigFields& fields, ModelConfig& config, std::int64_t absent) {
  const std::int64_t dense = fields.numberOr({"first_k_dense_replace"}, ConfigLimits::layers, absent);
  const std::int64_t every = fields.countOr({"moe_layer_freq"}, ConfigLimits::layers, 1);
  if (dense > config.layers && (config.layers > 1 || fields.sound()))
    fields.error(
        "first_k_dense_replace",
        fmt::format("{} dense layers at the start, but the model has {} layers", dense, config.layers));
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    config.moe.push_back(layer >= dense && layer % every == 0);
}

/// Experts in every `decoder_sparse_step`-th layer except the listed ones (Qwen).
void readSparseStep(ConfigFields& fields, ModelConfig& config) {
  const std::int64_t step = fields.countOr({"decoder_sparse_step"}, ConfigLimits::layers, 1);
  const auto dense =
      fields.numbers({"mlp_only_layers"}, lastLayer(config)).value_or(std::vector<std::int64_t>{});
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    config.moe.push_back((layer + 1) % step == 0 &&
                         std::find(dense.begin(), dense.end(), layer) == dense.end());
}

bool never(std::int64_t) { return false; }
bool always(std::int64_t) { return true; }
bool evenLayers(std::int64_t layer) { return layer % 2 == 0; }

void readMixtral(ConfigFields& fields, ModelConfig& config) {
  readDecoderSizes(fields, config, false);
  finishHeads(fields, config, headDimOf(fields), "num_attention_heads");
  readExperts(fields, config, {"num_local_experts"}, {"intermediate_size"});
  allMoe(config);
  readWindow(fields, config, fields.countOr({"sliding_window"}, ConfigLimits::tokens, 0), always);
}

void readQwenMoe(ConfigFields& fields, ModelConfig& config) {
  readDecoderSizes(fields, config, false);
  finishHeads(fields, config, headDimOf(fields), "num_attention_heads");
  readExperts(fields, config, {"num_experts"}, {"moe_intermediate_size"});
  readSparseStep(fields, config);
  readDenseWidth(fields, config, {"intermediate_size"});
  const bool window = fields.flagOr({"use_sliding_window"}, false);
  const std::int64_t size = fields.countOr({"sliding_window"}, ConfigLimits::tokens, 0);
  readWindow(fields, config, window ? size : 0, always);
}

void readQwen2Moe(ConfigFields& fields, ModelConfig& config) {
  readQwenMoe(fields, config);
  config.qkvBias = fields.flagOr({"qkv_bias"}, true);
  config.sharedExperts = 1;
  config.sharedExpertGate = true;
  config.sharedIntermediate = fields.count({"shared_expert_intermediate_size"}, ConfigLimits::width);
}

void readQwen3Moe(ConfigFields& fields, ModelConfig& config) {
  readQwenMoe(fields, config);
  config.qkvBias = config.outputBias = fields.flagOr({"attention_bias"}, false);
  config.qkNorm = true;
}

/// Which layers of a hybrid model are linear: a list of names, or a rule.
void readHybridLayers(ConfigFields& fields, ModelConfig& config,
                      bool (*linearByRule)(std::int64_t, std::int64_t), std::int64_t ruleArgument) {
  const auto types = fields.texts({"layer_types"});
  if (types && !listsEveryLayer(fields, config, "layer_types", types->size())) return;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    bool linear = linearByRule(layer, ruleArgument);
    if (types) {
      const std::string& type = (*types)[static_cast<std::size_t>(layer)];
      linear = type == "linear_attention";
      if (!linear && type != "full_attention")
        fields.error("layer_types", fmt::format("unknown layer type \"{}\"", type),
                     "known: full_attention, linear_attention");
    }
    config.layerAttention.push_back(linear ? AttentionKind::linear : AttentionKind::grouped);
  }
}

void readQwen3Next(ConfigFields& fields, ModelConfig& config) {
  readQwenMoe(fields, config);
  config.qkvBias = config.outputBias = fields.flagOr({"attention_bias"}, false);
  config.qkNorm = true;
  config.attentionGate = true;
  config.sharedExperts = 1;
  config.sharedExpertGate = true;
  config.sharedIntermediate = fields.count({"shared_expert_intermediate_size"}, ConfigLimits::width);
  config.linear = LinearKind::gatedDelta;
  config.linearKeyHeads = fields.count({"linear_num_key_heads"}, ConfigLimits::heads);
  config.linearValueHeads = fields.count({"linear_num_value_heads"}, ConfigLimits::heads);
  config.linearKeyDim = fields.count({"linear_key_head_dim"}, ConfigLimits::width);
  config.linearValueDim = fields.count({"linear_value_head_dim"}, ConfigLimits::width);
  config.linearConvKernel = fields.count({"linear_conv_kernel_dim"}, 1024);
  if (config.linearValueHeads % config.linearKeyHeads != 0 && (config.linearValueHeads > 1 || fields.sound()))
    fields.error("linear_num_value_heads", fmt::format("{} linear key heads do not divide the {} value heads",
                                                       config.linearKeyHeads, config.linearValueHeads));
  config.slidingWindow = 0;
  config.windowed.clear();
  readHybridLayers(
      fields, config, [](std::int64_t layer, std::int64_t every) { return (layer + 1) % every != 0; },
      fields.countOr({"full_attention_interval"}, ConfigLimits::layers, 4));
}

void readGptOss(ConfigFields& fields, ModelConfig& config) {
  readDecoderSizes(fields, config, false);
  finishHeads(fields, config, headDimOf(fields), "num_attention_heads");
  fields.countOr({"experts_per_token"}, ConfigLimits::experts, 0);  // the older spelling of the next one
  readExperts(fields, config, {"num_local_experts"}, {"intermediate_size"});
  allMoe(config);
  config.qkvBias = config.outputBias = fields.flagOr({"attention_bias"}, true);
  config.attentionSinks = true;
  config.fusedExperts = config.routerBias = config.expertBias = true;
  readWindow(fields, config, fields.countOr({"sliding_window"}, ConfigLimits::tokens, 128), evenLayers);
}

void readLatentAttention(ConfigFields& fields, ModelConfig& config) {
  config.attention = AttentionKind::mla;
  config.qLoraRank = fields.countOr({"q_lora_rank"}, ConfigLimits::width, 0);
  config.kvLoraRank = fields.count({"kv_lora_rank"}, ConfigLimits::width);
  config.qkNopeDim = fields.count({"qk_nope_head_dim"}, ConfigLimits::width);
  config.qkRopeDim = fields.count({"qk_rope_head_dim"}, ConfigLimits::width);
  const std::int64_t valueDim = fields.count({"v_head_dim"}, ConfigLimits::width);
  // Latent attention expands keys and values for every head, whatever the config says of key-value heads.
  config.kvHeads = config.heads;
  finishHeads(fields, config, config.qkNopeDim + config.qkRopeDim, "num_attention_heads");
  config.headDimValue = valueDim;
  config.qkvBias = config.outputBias = fields.flagOr({"attention_bias"}, false);
}

void readDeepseekV2(ConfigFields& fields, ModelConfig& config) {
  readDecoderSizes(fields, config, false);
  readLatentAttention(fields, config);
  readExperts(fields, config, {"n_routed_experts"}, {"moe_intermediate_size"});
  readSharedExperts(fields, config);
  readDenseFirst(fields, config, 0);
  readDenseWidth(fields, config, {"intermediate_size"});
}

void readDeepseekV3(ConfigFields& fields, ModelConfig& config) {
  readDeepseekV2(fields, config);
  config.routerCorrectionBias = fields.textOr({"topk_method"}, "noaux_tc") == "noaux_tc";
}

void readGlm4Moe(ConfigFields& fields, ModelConfig& config) {
  readDecoderSizes(fields, config, false);
  finishHeads(fields, config, headDimOf(fields), "num_attention_heads");
  config.qkvBias = fields.flagOr({"attention_bias"}, false);  // the output projection never has one
  config.qkNorm = fields.flagOr({"use_qk_norm"}, false);
  readExperts(fields, config, {"n_routed_experts"}, {"moe_intermediate_size"});
  readSharedExperts(fields, config);
  readDenseFirst(fields, config, 1);
  readDenseWidth(fields, config, {"intermediate_size"});
  config.routerCorrectionBias = true;
}

void readMinimax(ConfigFields& fields, ModelConfig& config) {
  readDecoderSizes(fields, config, false);
  finishHeads(fields, config, headDimOf(fields), "num_attention_heads");
  readExperts(fields, config, {"num_local_experts"}, {"intermediate_size"});
  allMoe(config);
  config.linear = LinearKind::lightning;
  config.linearKeyHeads = config.linearValueHeads = config.heads;
  config.linearKeyDim = config.linearValueDim = config.headDim;
  config.linearBlock = fields.countOr({"block_size"}, 1 << 16, 256);
  readHybridLayers(
      fields, config, [](std::int64_t layer, std::int64_t) { return layer % 2 == 1; }, 0);
}

/// The published spelling of minimax: attn_type_list with 0 for lightning and 1 for full attention.
void readMinimaxText01(ConfigFields& fields, ModelConfig& config) {
  readMinimax(fields, config);
  const auto list = fields.numbers({"attn_type_list"}, 1);
  if (!list || !listsEveryLayer(fields, config, "attn_type_list", list->size())) return;
  for (std::size_t layer = 0; layer < list->size(); ++layer)
    config.layerAttention[layer] = (*list)[layer] == 0 ? AttentionKind::linear : AttentionKind::grouped;
}

void readMinimaxM2(ConfigFields& fields, ModelConfig& config) {
  readDecoderSizes(fields, config, false);
  finishHeads(fields, config, headDimOf(fields), "num_attention_heads");
  readExperts(fields, config, {"num_local_experts"}, {"intermediate_size"});
  allMoe(config);
  config.qkNorm = config.qkNormFullWidth = fields.flagOr({"use_qk_norm"}, true);
  config.routerCorrectionBias = fields.flagOr({"use_routing_bias"}, true);
}

/// Text part of Llama 4: experts in every `interleave_moe_layer_step`-th layer, one shared expert, attention
/// inside chunks of tokens (kept as a window of that size) in the layers with rotary positions.
void readLlama4(ConfigFields& fields, ModelConfig& config) {
  readDecoderSizes(fields, config, false);
  finishHeads(fields, config, headDimOf(fields), "num_attention_heads");
  config.qkvBias = config.outputBias = fields.flagOr({"attention_bias"}, false);
  readExperts(fields, config, {"num_local_experts"}, {"intermediate_size"});
  config.sharedExperts = 1;
  config.sharedIntermediate = config.expertIntermediate;
  config.fusedExperts = true;
  const std::int64_t step = fields.countOr({"interleave_moe_layer_step"}, ConfigLimits::layers, 1);
  const auto listed = fields.numbers({"moe_layers"}, lastLayer(config));
  for (std::int64_t layer = 0; layer < config.layers; ++layer)
    config.moe.push_back(listed ? std::find(listed->begin(), listed->end(), layer) != listed->end()
                                : (layer + 1) % step == 0);
  readDenseWidth(fields, config, {"intermediate_size_mlp"});
  readWindow(fields, config, fields.countOr({"attention_chunk_size"}, ConfigLimits::tokens, 0),
             [](std::int64_t layer) { return (layer + 1) % 4 != 0; });
}

/// Our own models (see the zoo): grouped attention, every layer with routed and shared experts.
void readVescaleMoe(ConfigFields& fields, ModelConfig& config) {
  readDecoderSizes(fields, config, false);
  finishHeads(fields, config, headDimOf(fields), "num_attention_heads");
  readExperts(fields, config, {"n_routed_experts"}, {"moe_intermediate_size"});
  readSharedExperts(fields, config);
  allMoe(config);
  readWindow(fields, config, 0, never);
}

constexpr HfArchitecture kMoe[] = {
    {"deepseek_v2", readDeepseekV2}, {"deepseek_v3", readDeepseekV3}, {"glm4_moe", readGlm4Moe},
    {"gpt_oss", readGptOss},         {"kimi_k2", readDeepseekV3},     {"llama4_text", readLlama4},
    {"minimax", readMinimax},        {"minimax_m2", readMinimaxM2},   {"minimax_text_01", readMinimaxText01},
    {"mixtral", readMixtral},        {"qwen2_moe", readQwen2Moe},     {"qwen3_moe", readQwen3Moe},
    {"qwen3_next", readQwen3Next},   {"vescale_moe", readVescaleMoe},
};

}  // namespace

std::span<const HfArchitecture> moeArchitectures() { return kMoe; }

}  // namespace vsim::core
