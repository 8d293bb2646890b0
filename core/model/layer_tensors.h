#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/config.h"
#include "core/model/tensor.h"

namespace vsim::core {

/// The tensors of a model's parts, in the order in which the library registers them, with checkpoint names.
std::vector<TensorSpec> embeddingTensors(const ModelConfig& config);
std::vector<TensorSpec> finalNormTensors(const ModelConfig& config);
/// Empty when the head is tied to the embedding.
std::vector<TensorSpec> headTensors(const ModelConfig& config);
/// Names are relative to layerPrefix(): layers of one kind share them.
std::vector<TensorSpec> layerTensors(const ModelConfig& config, std::int64_t layer);
/// "model.layers.3." with the dot.
std::string layerPrefix(const ModelConfig& config, std::int64_t layer);
/// Names of the modules themselves: "model.embed_tokens", "model.norm", "lm_head".
std::string embeddingModule(const ModelConfig& config);
std::string finalNormModule(const ModelConfig& config);
std::string headModule(const ModelConfig& config);

/// Same tensors and same operations.
bool sameLayerKind(const ModelConfig& config, std::int64_t a, std::int64_t b);

}  // namespace vsim::core
