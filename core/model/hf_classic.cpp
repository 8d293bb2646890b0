#include <fmt/format.h>

#include "core/model/config_fields.h"
#include "core/model/hf_architectures.h"

// Sources as in hf_dense.cpp; mpt after llm-foundry's MPTConfig (mosaicml/llm-foundry, configuration_mpt.py).
namespace vsim::core {
namespace {

/// Layer norms with bias, plain MLP, linear layers with bias: what the models of 2019-2022 have in common.
void setClassic(ModelConfig& config) {
  config.norm = NormKind::layer;
  config.mlp = MlpKind::plain;
  config.qkvBias = config.outputBias = config.mlpBias = true;
}

void readGpt2(ConfigFields& fields, ModelConfig& config) {
  setClassic(config);
  config.layers = fields.count({"n_layer", "num_hidden_layers"}, ConfigLimits::layers);
  config.hidden = fields.count({"n_embd", "hidden_size"}, ConfigLimits::width);
  config.heads = config.kvHeads = fields.count({"n_head", "num_attention_heads"}, ConfigLimits::heads);
  config.vocabulary = fields.count({"vocab_size"}, ConfigLimits::vocabulary);
  config.maxPositions = fields.count({"n_positions", "max_position_embeddings"}, ConfigLimits::vocabulary);
  config.intermediate =
      fields.countOr({"n_inner", "intermediate_size"}, ConfigLimits::width, 4 * config.hidden);
  config.tiedEmbeddings = fields.flagOr({"tie_word_embeddings"}, true);
  config.position = PositionKind::learned;
  config.fusedQkv = true;
  finishHeads(fields, config, 0, "n_head");
}

void readGptNeox(ConfigFields& fields, ModelConfig& config) {
  setClassic(config);
  readDecoderSizes(fields, config, false);
  config.kvHeads = config.heads;
  config.intermediate = fields.count({"intermediate_size"}, ConfigLimits::width);
  config.qkvBias = config.outputBias = fields.flagOr({"attention_bias"}, true);
  config.parallelBlock = config.parallelNorms = fields.flagOr({"use_parallel_residual"}, true);
  config.fusedQkv = true;
  finishHeads(fields, config, 0, "num_attention_heads");
}

void readBloom(ConfigFields& fields, ModelConfig& config) {
  setClassic(config);
  config.layers = fields.count({"n_layer", "num_hidden_layers"}, ConfigLimits::layers);
  config.hidden = fields.count({"hidden_size", "n_embed"}, ConfigLimits::width);
  config.heads = config.kvHeads = fields.count({"n_head", "num_attention_heads"}, ConfigLimits::heads);
  config.vocabulary = fields.count({"vocab_size"}, ConfigLimits::vocabulary);
  config.intermediate = 4 * config.hidden;
  config.tiedEmbeddings = fields.flagOr({"tie_word_embeddings"}, true);
  config.position = PositionKind::alibi;
  config.embeddingNorm = true;
  config.fusedQkv = true;
  finishHeads(fields, config, 0, "n_head");
}

void readOpt(ConfigFields& fields, ModelConfig& config) {
  setClassic(config);
  readDecoderSizes(fields, config, true);
  config.kvHeads = config.heads;
  config.intermediate = fields.count({"ffn_dim"}, ConfigLimits::width);
  // The table has two rows more than positions: its index starts at 2.
  config.maxPositions = fields.count({"max_position_embeddings"}, ConfigLimits::vocabulary) + 2;
  config.position = PositionKind::learned;
  config.qkvBias = config.outputBias = config.mlpBias = fields.flagOr({"enable_bias"}, true);
  const std::int64_t projection = fields.countOr({"word_embed_proj_dim"}, ConfigLimits::width, config.hidden);
  if (projection != config.hidden)
    fields.error(
        "word_embed_proj_dim",
        fmt::format("embeddings of width {} projected to {} are not supported", projection, config.hidden));
  if (!fields.flagOr({"do_layer_norm_before"}, true))
    fields.error("do_layer_norm_before", "norms after the residual sum are not supported");
  finishHeads(fields, config, 0, "num_attention_heads");
}

void readFalcon(ConfigFields& fields, ModelConfig& config) {
  setClassic(config);
  config.layers = fields.count({"num_hidden_layers", "n_layer"}, ConfigLimits::layers);
  config.hidden = fields.count({"hidden_size"}, ConfigLimits::width);
  config.heads = fields.count({"num_attention_heads", "n_head"}, ConfigLimits::heads);
  config.vocabulary = fields.count({"vocab_size"}, ConfigLimits::vocabulary);
  const std::int64_t kvHeads =
      fields.countOr({"num_kv_heads", "n_head_kv", "num_key_value_heads"}, ConfigLimits::heads, config.heads);
  const bool grouped = fields.flagOr({"new_decoder_architecture"}, false);
  const bool multiQuery = fields.flagOr({"multi_query"}, true);
  config.kvHeads = grouped ? kvHeads : multiQuery ? 1 : config.heads;
  config.parallelBlock = fields.flagOr({"parallel_attn"}, true) || grouped;
  const std::int64_t norms = fields.countOr({"num_ln_in_parallel_attn"}, 2, grouped ? 2 : 1);
  config.parallelNorms = grouped && norms == 2;
  config.qkvBias = config.outputBias = config.mlpBias = fields.flagOr({"bias"}, false);
  config.position = fields.flagOr({"alibi"}, false) ? PositionKind::alibi : PositionKind::rotary;
  config.intermediate = fields.countOr({"ffn_hidden_size"}, ConfigLimits::width, 4 * config.hidden);
  // The class ties by default, yet every published falcon file stores lm_head.weight: count what is stored.
  config.tiedEmbeddings = fields.flagOr({"tie_word_embeddings"}, false);
  config.fusedQkv = true;
  finishHeads(fields, config, 0, "num_attention_heads");
}

/// attn_config of an mpt config: ALiBi takes the place of the position table.
void readMptAttention(ConfigFields& fields, ModelConfig& config) {
  config.kvHeads = config.heads;
  bool alibi = false;
  if (const JsonNode* node = fields.object({"attn_config"})) {
    ConfigFields attention = fields.nested(*node);
    alibi = attention.flagOr({"alibi"}, false);
    if (attention.textOr({"attn_type"}, "multihead_attention") == "multiquery_attention") config.kvHeads = 1;
    config.kvHeads = attention.countOr({"kv_n_heads"}, ConfigLimits::heads, config.kvHeads);
    for (const char* unsupported : {"qk_ln", "qk_gn", "rope"})
      if (attention.flagOr({unsupported}, false))
        attention.error(unsupported, fmt::format("\"attn_config.{}\" is not supported for mpt", unsupported));
    fields.absorb(attention);
  }
  const bool learned = fields.flagOr({"learned_pos_emb"}, true) && !alibi;
  const std::int64_t positions = fields.count({"max_seq_len"}, ConfigLimits::vocabulary);
  config.position = alibi ? PositionKind::alibi : learned ? PositionKind::learned : PositionKind::none;
  config.maxPositions = learned ? positions : 0;
}

void readMpt(ConfigFields& fields, ModelConfig& config) {
  setClassic(config);
  config.layers = fields.count({"n_layers"}, ConfigLimits::layers);
  config.hidden = fields.count({"d_model"}, ConfigLimits::width);
  config.heads = fields.count({"n_heads"}, ConfigLimits::heads);
  config.vocabulary = fields.count({"vocab_size"}, ConfigLimits::vocabulary);
  config.intermediate = config.hidden * fields.countOr({"expansion_ratio"}, 1024, 4);
  config.tiedEmbeddings = fields.flagOr({"tie_word_embeddings"}, true);
  config.fusedQkv = true;
  const bool noBias = fields.flagOr({"no_bias"}, false);
  config.qkvBias = config.outputBias = config.mlpBias = !noBias;
  if (noBias) config.norm = NormKind::layerNoBias;
  readMptAttention(fields, config);
  finishHeads(fields, config, 0, "n_heads");
}

constexpr HfArchitecture kClassic[] = {
    {"bloom", readBloom},      {"falcon", readFalcon}, {"gpt2", readGpt2},
    {"gpt_neox", readGptNeox}, {"mpt", readMpt},       {"opt", readOpt},
};

}  // namespace

std::span<const HfArchitecture> classicArchitectures() { return kClassic; }

}  // namespace vsim::core
