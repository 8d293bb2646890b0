#include "core/model/tensor_names.h"

namespace vsim::core {
namespace {

TensorNames transformerH() {
  TensorNames names;
  names.embedding = "transformer.word_embeddings";
  names.layers = "transformer.h";
  names.finalNorm = "transformer.ln_f";
  names.attention = "self_attention";
  names.fusedQkv = "query_key_value";
  names.output = "dense";
  names.up = "dense_h_to_4h";
  names.down = "dense_4h_to_h";
  return names;
}

TensorNames gpt2() {
  TensorNames names;
  names.embedding = "transformer.wte";
  names.positions = "transformer.wpe";
  names.layers = "transformer.h";
  names.finalNorm = "transformer.ln_f";
  names.firstNorm = "ln_1";
  names.secondNorm = "ln_2";
  names.attention = "attn";
  names.fusedQkv = "c_attn";
  names.output = "c_proj";
  names.up = "c_fc";
  names.down = "c_proj";
  names.order = TensorNames::Order::normAttentionNormMlp;
  names.transposedLinear = true;
  return names;
}

TensorNames gptNeox() {
  TensorNames names = transformerH();
  names.embedding = "gpt_neox.embed_in";
  names.layers = "gpt_neox.layers";
  names.finalNorm = "gpt_neox.final_layer_norm";
  names.head = "embed_out";
  names.attention = "attention";
  names.order = TensorNames::Order::normsAttentionMlp;
  return names;
}

TensorNames opt() {
  TensorNames names;
  names.embedding = "model.decoder.embed_tokens";
  names.positions = "model.decoder.embed_positions";
  names.layers = "model.decoder.layers";
  names.finalNorm = "model.decoder.final_layer_norm";
  names.firstNorm = "self_attn_layer_norm";
  names.secondNorm = "final_layer_norm";
  names.output = "out_proj";
  names.mlp = "";
  names.up = "fc1";
  names.down = "fc2";
  names.order = TensorNames::Order::attentionNormMlpNorm;
  names.keyValueQuery = true;
  return names;
}

TensorNames mpt() {
  TensorNames names;
  names.embedding = "transformer.wte";
  names.positions = "transformer.wpe";
  names.layers = "transformer.blocks";
  names.finalNorm = "transformer.norm_f";
  names.firstNorm = "norm_1";
  names.secondNorm = "norm_2";
  names.attention = "attn";
  names.fusedQkv = "Wqkv";
  names.output = "out_proj";
  names.mlp = "ffn";
  names.order = TensorNames::Order::normAttentionNormMlp;
  return names;
}

}  // namespace

TensorNames tensorNames(const std::string& modelType, bool parallelNorms) {
  if (modelType == "gpt2") return gpt2();
  if (modelType == "gpt_neox") return gptNeox();
  if (modelType == "opt") return opt();
  if (modelType == "mpt") return mpt();
  if (modelType == "falcon" || modelType == "bloom") {
    TensorNames names = transformerH();
    if (modelType == "bloom") {
      names.embeddingNorm = "transformer.word_embeddings_layernorm";
      names.order = TensorNames::Order::normAttentionNormMlp;
    } else if (parallelNorms) {
      names.firstNorm = "ln_attn";
      names.secondNorm = "ln_mlp";
    }
    return names;
  }
  TensorNames names;
  if (modelType == "phi3") names.outputFirst = true;
  if (modelType == "gpt_oss" || modelType == "llama4_text") names.router = "router";
  if (modelType == "gpt_oss" || modelType == "qwen3_next" || modelType == "qwen2_moe")
    names.routerFirst = true;
  if (modelType == "qwen3_next" || modelType == "qwen2_moe" || modelType == "llama4_text")
    names.sharedExperts = "shared_expert";
  if (modelType == "llama4_text") names.mlp = "feed_forward";
  if (modelType == "mixtral" || modelType.starts_with("minimax")) {
    names.mlp = "block_sparse_moe";
    names.splitExpertsAsMixtral = true;
    names.routerFirst = true;
    names.correctionBias = "e_score_correction_bias";
  }
  return names;
}

}  // namespace vsim::core
