#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/dtype.h"

namespace vsim::core {

enum class NormKind : std::uint8_t { rms, layer, layerNoBias };
enum class PositionKind : std::uint8_t { rotary, learned, alibi, none };
enum class MlpKind : std::uint8_t {
  gated,
  plain
};  // gated: down(act(gate x) * up x); plain: down(act(up x))
enum class AttentionKind : std::uint8_t { grouped, mla, linear };  // grouped covers MHA, GQA and MQA

/// Everything that fixes a decoder's tensors, operations and saved activations. All counts are per model,
/// sizes in elements. Filled by readHfConfig() or a preset; 0 or empty means "has none".
struct ModelConfig {
  std::string name;       // preset name or the config file's stem
  std::string modelType;  // Hugging Face model_type: decides tensor names
  std::string remark;     // for presets: source, and "our reconstruction" where the model is not published

  std::int64_t layers = 0, hidden = 0, vocabulary = 0;
  std::int64_t maxPositions = 0;  // learned position table rows
  bool tiedEmbeddings = false;
  NormKind norm = NormKind::rms;
  PositionKind position = PositionKind::rotary;
  DType dtype = DType::bf16;  // of the checkpoint's tensors

  // Attention
  AttentionKind attention = AttentionKind::grouped;
  std::int64_t heads = 0, kvHeads = 0, headDim = 0, headDimValue = 0;
  bool qkvBias = false, outputBias = false, fusedQkv = false, qkNorm = false, attentionSinks = false;
  bool parallelBlock = false;      // attention and MLP read the same normalised input (falcon, neox)
  bool embeddingNorm = false;      // bloom
  bool postNorms = false;          // norms after attention and MLP as well (gemma-2), or instead (olmo-2)
  std::int64_t slidingWindow = 0;  // tokens; 0: full attention everywhere
  std::vector<bool> windowed;      // per layer, when slidingWindow > 0
  std::vector<AttentionKind> layerAttention;  // per layer when they differ (hybrid models), else empty
  std::int64_t qLoraRank = 0, kvLoraRank = 0, qkNopeDim = 0, qkRopeDim = 0;  // MLA

  // MLP and experts
  MlpKind mlp = MlpKind::gated;
  std::int64_t intermediate = 0;
  bool mlpBias = false;
  std::int64_t experts = 0, expertsPerToken = 0, expertIntermediate = 0, sharedExperts = 0;
  std::int64_t sharedIntermediate = 0;  // of all shared experts together
  bool fusedExperts = false;            // one tensor for all experts of a layer (gpt-oss, llama-4)
  bool sharedExpertGate = false, routerBias = false, expertBias = false, routerCorrectionBias = false;
  std::vector<bool> moe;  // per layer: true = routed experts (dense-first layers are false)

  [[nodiscard]] bool isMoe(std::int64_t layer) const {
    return layer < static_cast<std::int64_t>(moe.size()) && moe[static_cast<std::size_t>(layer)];
  }
};

}  // namespace vsim::core
