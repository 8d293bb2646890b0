#pragma once

#include <span>
#include <string>

#include "core/model/config.h"
#include "core/model/config_fields.h"

namespace vsim::core {

/// Largest values that a config may give: far above any real model, small enough that no product of a
/// tensor's sizes overflows.
struct ConfigLimits {
  static constexpr std::int64_t layers = 10'000;
  static constexpr std::int64_t width = std::int64_t{1} << 24;  // hidden, intermediate, head sizes, ranks
  static constexpr std::int64_t heads = std::int64_t{1} << 16;
  static constexpr std::int64_t vocabulary = std::int64_t{1} << 28;
  static constexpr std::int64_t experts = std::int64_t{1} << 16;
  static constexpr std::int64_t tokens = std::int64_t{1} << 40;  // positions, windows
};

/// One model_type: how its config.json fills a ModelConfig.
struct HfArchitecture {
  const char* modelType;
  void (*read)(ConfigFields& fields, ModelConfig& config);
};
std::span<const HfArchitecture> denseArchitectures();    // llama and its relatives
std::span<const HfArchitecture> classicArchitectures();  // gpt2, neox, bloom, opt, falcon, mpt
std::span<const HfArchitecture> moeArchitectures();

/// Fields that llama and its relatives share: sizes, heads, vocabulary, tied embeddings.
void readDecoderSizes(ConfigFields& fields, ModelConfig& config, bool tiedWhenAbsent);
/// Head size from hidden / heads unless the config gives one, value heads of the same size, divisibility.
void finishHeads(ConfigFields& fields, ModelConfig& config, std::int64_t headDim, const char* headsField);
/// False, with an error when the number of layers is known, if a per-layer list has another length.
bool listsEveryLayer(ConfigFields& fields, const ModelConfig& config, const char* field, std::size_t listed);
/// Layers with a window: from `layer_types` when the config lists them, else as `windowedByRule` says.
void readWindow(ConfigFields& fields, ModelConfig& config, std::int64_t window,
                bool (*windowedByRule)(std::int64_t layer));

}  // namespace vsim::core
