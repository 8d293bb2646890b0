#include <fmt/format.h>

#include <algorithm>

#include "core/model/hf_architectures.h"

// Which tensors and defaults a model_type has was read off the class of that name in transformers 5.24
// (configuration_*.py and modeling_*.py); totals and names are compared with tensor listings in the tests.
namespace vsim::core {

void readDecoderSizes(ConfigFields& fields, ModelConfig& config, bool tiedWhenAbsent) {
  config.layers = fields.count({"num_hidden_layers"}, ConfigLimits::layers);
  config.hidden = fields.count({"hidden_size"}, ConfigLimits::width);
  config.vocabulary = fields.count({"vocab_size"}, ConfigLimits::vocabulary);
  config.heads = fields.count({"num_attention_heads"}, ConfigLimits::heads);
  config.kvHeads = fields.countOr({"num_key_value_heads"}, ConfigLimits::heads, config.heads);
  config.tiedEmbeddings = fields.flagOr({"tie_word_embeddings"}, tiedWhenAbsent);
}

void finishHeads(ConfigFields& fields, ModelConfig& config, std::int64_t headDim, const char* headsField) {
  if (headDim > 0) {
    config.headDim = headDim;
  } else {
    if (config.hidden % config.heads != 0 && (config.hidden > 1 || fields.sound()))
      fields.error(headsField,
                   fmt::format("{} heads do not divide the hidden size {}", config.heads, config.hidden));
    config.headDim = config.hidden / config.heads;
  }
  config.headDimValue = config.headDim;
  if (config.heads % config.kvHeads != 0 && (config.heads > 1 || fields.sound()))
    fields.error("num_key_value_heads", fmt::format("{} key-value heads do not divide the {} attention heads",
                                                    config.kvHeads, config.heads));
}

bool listsEveryLayer(ConfigFields& fields, const ModelConfig& config, const char* field, std::size_t listed) {
  if (static_cast<std::int64_t>(listed) == config.layers) return true;
  if (config.layers > 1 || fields.sound())
    fields.error(field,
                 fmt::format("\"{}\" lists {} layers, the model has {}", field, listed, config.layers));
  return false;
}

void readWindow(ConfigFields& fields, ModelConfig& config, std::int64_t window,
                bool (*windowedByRule)(std::int64_t layer)) {
  const auto types = fields.texts({"layer_types"});
  if (types && !listsEveryLayer(fields, config, "layer_types", types->size())) return;
  config.slidingWindow = window;
  if (window == 0) return;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    if (!types) {
      config.windowed.push_back(windowedByRule(layer));
      continue;
    }
    const std::string& type = (*types)[static_cast<std::size_t>(layer)];
    if (type != "sliding_attention" && type != "full_attention" && type != "chunked_attention")
      fields.error("layer_types", fmt::format("unknown layer type \"{}\"", type),
                   "known: full_attention, sliding_attention, chunked_attention");
    config.windowed.push_back(type != "full_attention");
  }
}

namespace {

bool everyLayer(std::int64_t) { return true; }

std::int64_t headDimOf(ConfigFields& fields) { return fields.countOr({"head_dim"}, ConfigLimits::width, 0); }

void readDense(ConfigFields& fields, ModelConfig& config, bool tiedWhenAbsent) {
  readDecoderSizes(fields, config, tiedWhenAbsent);
  finishHeads(fields, config, headDimOf(fields), "num_attention_heads");
  config.intermediate = fields.count({"intermediate_size"}, ConfigLimits::width);
}

void readLlama(ConfigFields& fields, ModelConfig& config) {
  readDense(fields, config, false);
  config.qkvBias = config.outputBias = fields.flagOr({"attention_bias"}, false);
  config.mlpBias = fields.flagOr({"mlp_bias"}, false);
}

void readMistral(ConfigFields& fields, ModelConfig& config) {
  readDense(fields, config, false);
  readWindow(fields, config, fields.countOr({"sliding_window"}, ConfigLimits::tokens, 0), everyLayer);
}

/// Qwen uses its window only when asked to, and then from layer max_window_layers on.
void readQwenWindow(ConfigFields& fields, ModelConfig& config) {
  const bool use = fields.flagOr({"use_sliding_window"}, false);
  const std::int64_t window = fields.countOr({"sliding_window"}, ConfigLimits::tokens, 0);
  const std::int64_t first = fields.numberOr({"max_window_layers"}, ConfigLimits::layers, 0);
  readWindow(fields, config, use ? window : 0, everyLayer);
  for (std::int64_t layer = 0; layer < std::min(first, std::ssize(config.windowed)); ++layer)
    config.windowed[static_cast<std::size_t>(layer)] = false;
}

void readQwen2(ConfigFields& fields, ModelConfig& config) {
  readDense(fields, config, false);
  config.qkvBias = true;  // the class has no switch for it
  readQwenWindow(fields, config);
}

void readQwen3(ConfigFields& fields, ModelConfig& config) {
  readLlama(fields, config);
  config.mlpBias = false;
  config.qkNorm = true;
  readQwenWindow(fields, config);
}

void readGemma(ConfigFields& fields, ModelConfig& config) {
  readDense(fields, config, true);
  config.qkvBias = config.outputBias = fields.flagOr({"attention_bias"}, false);
}

void readGemma2(ConfigFields& fields, ModelConfig& config) {
  readGemma(fields, config);
  config.postNorms = true;
  readWindow(fields, config, fields.countOr({"sliding_window"}, ConfigLimits::tokens, 4096),
             [](std::int64_t layer) { return layer % 2 == 0; });
}

void readGemma3(ConfigFields& fields, ModelConfig& config) {
  readGemma(fields, config);
  config.postNorms = true;
  config.qkNorm = true;
  const std::int64_t pattern = fields.countOr({"sliding_window_pattern"}, ConfigLimits::layers, 6);
  readWindow(fields, config, fields.countOr({"sliding_window"}, ConfigLimits::tokens, 4096), everyLayer);
  if (fields.texts({"layer_types"})) return;
  for (std::size_t layer = 0; layer < config.windowed.size(); ++layer)
    config.windowed[layer] = (static_cast<std::int64_t>(layer) + 1) % pattern != 0;
}

void readPhi3(ConfigFields& fields, ModelConfig& config) {
  readDense(fields, config, false);
  config.fusedQkv = config.fusedGateUp = true;
  readWindow(fields, config, fields.countOr({"sliding_window"}, ConfigLimits::tokens, 0), everyLayer);
}

void readOlmo2(ConfigFields& fields, ModelConfig& config) {
  readDense(fields, config, false);
  config.qkvBias = config.outputBias = fields.flagOr({"attention_bias"}, false);
  config.qkNorm = config.qkNormFullWidth = true;
  config.preNorms = false;
  config.postNorms = true;
}

constexpr HfArchitecture kDense[] = {
    {"gemma", readGemma}, {"gemma2", readGemma2},   {"gemma3_text", readGemma3},
    {"llama", readLlama}, {"mistral", readMistral}, {"olmo2", readOlmo2},
    {"phi3", readPhi3},   {"qwen2", readQwen2},     {"qwen3", readQwen3},
};

}  // namespace

std::span<const HfArchitecture> denseArchitectures() { return kDense; }

}  // namespace vsim::core
