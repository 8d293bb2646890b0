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
enum class LinearKind : std::uint8_t { none, gatedDelta, lightning };

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
  bool qkNormFullWidth = false;    // q/k norms over all heads together (olmo-2, minimax-m2), not per head
  bool attentionGate = false;      // q_proj also makes a sigmoid gate of the attention's output (qwen3-next)
  bool parallelBlock = false;      // attention and MLP both read the layer's input (falcon, neox)
  bool parallelNorms = false;      // parallelBlock: each of the two has its own norm
  bool embeddingNorm = false;      // bloom
  bool preNorms = true;            // norms in front of attention and MLP; false: olmo-2
  bool postNorms = false;          // norms after attention and MLP: as well (gemma-2), or instead (olmo-2)
  std::int64_t slidingWindow = 0;  // tokens; 0: full attention everywhere
  std::vector<bool> windowed;      // per layer, when slidingWindow > 0
  std::vector<AttentionKind> layerAttention;  // per layer when they differ (hybrid models), else empty
  // Linear attention of hybrid models: gatedDelta (qwen3-next) or lightning (minimax).
  LinearKind linear = LinearKind::none;
  std::int64_t linearKeyHeads = 0, linearValueHeads = 0, linearKeyDim = 0, linearValueDim = 0;
  std::int64_t linearConvKernel = 0;  // gatedDelta: taps of the causal convolution
  std::int64_t linearBlock = 0;       // lightning: tokens of a block
  std::int64_t qLoraRank = 0, kvLoraRank = 0, qkNopeDim = 0, qkRopeDim = 0;  // MLA

  // MLP and experts
  MlpKind mlp = MlpKind::gated;
  std::int64_t intermediate = 0;  // of dense layers; 0 when every layer is MoE
  bool fusedGateUp = false;       // gate and up projection of a dense MLP are one tensor (phi-3)
  bool mlpBias = false;
  std::int64_t experts = 0, expertsPerToken = 0, expertIntermediate = 0, sharedExperts = 0;
  std::int64_t sharedIntermediate = 0;  // of all shared experts together
  bool fusedExperts = false;            // one tensor for all experts of a layer (gpt-oss, llama-4)
  bool sharedExpertGate = false, routerBias = false, expertBias = false, routerCorrectionBias = false;
  std::vector<bool> moe;  // per layer: true = routed experts (dense-first layers are false)

  /// Attention of a layer, hybrid models included.
  [[nodiscard]] AttentionKind attentionOf(std::int64_t layer) const {
    return layerAttention.empty() ? attention : layerAttention[static_cast<std::size_t>(layer)];
  }
  /// Whether a layer sees only the last `slidingWindow` tokens.
  [[nodiscard]] bool isWindowed(std::int64_t layer) const {
    return slidingWindow > 0 && layer < static_cast<std::int64_t>(windowed.size()) &&
           windowed[static_cast<std::size_t>(layer)];
  }
  [[nodiscard]] bool isMoe(std::int64_t layer) const {
    return layer < static_cast<std::int64_t>(moe.size()) && moe[static_cast<std::size_t>(layer)];
  }
};

}  // namespace vsim::core
