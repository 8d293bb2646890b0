#pragma once

#include <string>

namespace vsim::core {

/// What a family of models calls its tensors, and how it stores them. Source: the state_dict keys of the
/// classes in transformers 5.24, as saved (older spellings that the library still writes included).
struct TensorNames {
  // Modules outside the layers.
  const char* embedding = "model.embed_tokens";
  const char* positions = "";
  const char* embeddingNorm = "";
  const char* layers = "model.layers";
  const char* finalNorm = "model.norm";
  const char* head = "lm_head";
  // Inside a layer. First and second norm: in front of attention and MLP, or of a parallel block's two
  // halves.
  const char* firstNorm = "input_layernorm";
  const char* secondNorm = "post_attention_layernorm";
  const char* attention = "self_attn";
  const char *query = "q_proj", *key = "k_proj", *value = "v_proj", *output = "o_proj";
  const char* fusedQkv = "qkv_proj";
  const char* mlp = "mlp";
  const char *gate = "gate_proj", *up = "up_proj", *down = "down_proj", *fusedGateUp = "gate_up_proj";
  const char* router = "gate";
  const char* sharedExperts = "shared_experts";
  const char* correctionBias = "gate.e_score_correction_bias";
  // Order of registration: it is the order in which parameters are handed to FSDP.
  enum class Order { attentionMlpNorms, normsAttentionMlp, normAttentionNormMlp, attentionNormMlpNorm };
  Order order = Order::attentionMlpNorms;
  bool keyValueQuery = false;          // opt registers k, v, q
  bool outputFirst = false;            // phi3 registers o_proj in front of qkv_proj
  bool routerFirst = false;            // router registered in front of the experts
  bool transposedLinear = false;       // weights are [in, out] (gpt2's Conv1D)
  bool splitExpertsAsMixtral = false;  // w1 (gate), w2 (down), w3 (up), as the files say
};

TensorNames tensorNames(const std::string& modelType, bool parallelNorms);

}  // namespace vsim::core
