#include "core/model/zoo_entries.h"

namespace vsim::core {
namespace {

constexpr const char* kDeepseekV3 =
    R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "num_hidden_layers": 61,
        "num_attention_heads": 128, "vocab_size": 129280, "q_lora_rank": 1536, "kv_lora_rank": 512,
        "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 256,
        "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
        "first_k_dense_replace": 3})";

constexpr ZooEntry kMoe[] = {
    {"mixtral-8x7b", "mistralai/Mixtral-8x7B-v0.1 config.json",
     R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000, "num_local_experts": 8,
         "num_experts_per_tok": 2})"},
    {"qwen3-30b-a3b", "Qwen/Qwen3-30B-A3B config.json",
     R"({"model_type": "qwen3_moe", "hidden_size": 2048, "moe_intermediate_size": 768, "num_hidden_layers": 48,
         "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 151936,
         "num_experts": 128, "num_experts_per_tok": 8})"},
    {"qwen3-235b-a22b", "Qwen/Qwen3-235B-A22B config.json",
     R"({"model_type": "qwen3_moe", "hidden_size": 4096, "moe_intermediate_size": 1536, "num_hidden_layers": 94,
         "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 151936,
         "num_experts": 128, "num_experts_per_tok": 8})"},
    {"qwen3-next-80b-a3b", "Qwen/Qwen3-Next-80B-A3B config.json, without its multi-token-prediction module",
     R"({"model_type": "qwen3_next", "hidden_size": 2048, "moe_intermediate_size": 512, "num_hidden_layers": 48,
         "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 151936,
         "num_experts": 512, "num_experts_per_tok": 10, "shared_expert_intermediate_size": 512,
         "full_attention_interval": 4, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
         "linear_value_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32})"},
    {"gpt-oss-20b", "openai/gpt-oss-20b config.json, weights before their MXFP4 quantization",
     R"({"model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "num_hidden_layers": 24,
         "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 201088,
         "num_local_experts": 32, "num_experts_per_tok": 4, "sliding_window": 128})"},
    {"gpt-oss-120b", "openai/gpt-oss-120b config.json, weights before their MXFP4 quantization",
     R"({"model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "num_hidden_layers": 36,
         "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 201088,
         "num_local_experts": 128, "num_experts_per_tok": 4, "sliding_window": 128})"},
    {"deepseek-v2-lite", "deepseek-ai/DeepSeek-V2-Lite config.json",
     R"({"model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944, "num_hidden_layers": 27,
         "num_attention_heads": 16, "vocab_size": 102400, "q_lora_rank": null, "kv_lora_rank": 512,
         "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 64,
         "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1408,
         "first_k_dense_replace": 1})"},
    {"deepseek-v3", "deepseek-ai/DeepSeek-V3 config.json, without the multi-token-prediction layer",
     kDeepseekV3},
    {"deepseek-r1", "deepseek-ai/DeepSeek-R1 config.json, without the multi-token-prediction layer",
     kDeepseekV3},
    {"kimi-k2", "moonshotai/Kimi-K2-Instruct config.json",
     R"({"model_type": "kimi_k2", "hidden_size": 7168, "intermediate_size": 18432, "num_hidden_layers": 61,
         "num_attention_heads": 64, "vocab_size": 163840, "q_lora_rank": 1536, "kv_lora_rank": 512,
         "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 384,
         "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
         "first_k_dense_replace": 1})"},
    {"llama-4-scout-text", "meta-llama/Llama-4-Scout-17B-16E config.json, text part",
     R"({"model_type": "llama4_text", "hidden_size": 5120, "intermediate_size": 8192, "num_hidden_layers": 48,
         "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 202048,
         "num_local_experts": 16, "num_experts_per_tok": 1, "attention_chunk_size": 8192})"},
    {"glm-4.5", "zai-org/GLM-4.5 config.json, without the multi-token-prediction layer",
     R"({"model_type": "glm4_moe", "hidden_size": 5120, "intermediate_size": 12288, "num_hidden_layers": 92,
         "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151552,
         "attention_bias": true, "use_qk_norm": true, "n_routed_experts": 160, "n_shared_experts": 1,
         "num_experts_per_tok": 8, "moe_intermediate_size": 1536, "first_k_dense_replace": 3})"},
    {"glm-4.5-air", "zai-org/GLM-4.5-Air config.json, without the multi-token-prediction layer",
     R"({"model_type": "glm4_moe", "hidden_size": 4096, "intermediate_size": 10944, "num_hidden_layers": 46,
         "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151552,
         "attention_bias": true, "use_qk_norm": false, "n_routed_experts": 128, "n_shared_experts": 1,
         "num_experts_per_tok": 8, "moe_intermediate_size": 1408, "first_k_dense_replace": 1})"},
    {"minimax-text-01", "MiniMaxAI/MiniMax-Text-01 config.json: every eighth layer has full attention",
     R"({"model_type": "minimax_text_01", "hidden_size": 6144, "intermediate_size": 9216,
         "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
         "vocab_size": 200064, "num_local_experts": 32, "num_experts_per_tok": 2,
         "attn_type_list": [0,0,0,0,0,0,0,1, 0,0,0,0,0,0,0,1, 0,0,0,0,0,0,0,1, 0,0,0,0,0,0,0,1,
                            0,0,0,0,0,0,0,1, 0,0,0,0,0,0,0,1, 0,0,0,0,0,0,0,1, 0,0,0,0,0,0,0,1,
                            0,0,0,0,0,0,0,1, 0,0,0,0,0,0,0,1]})"},
    {"minimax-m2", "MiniMaxAI/MiniMax-M2 config.json, without the multi-token-prediction modules",
     R"({"model_type": "minimax_m2", "hidden_size": 3072, "intermediate_size": 1536, "num_hidden_layers": 62,
         "num_attention_heads": 48, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 200064,
         "num_local_experts": 256, "num_experts_per_tok": 8, "use_qk_norm": true})"},
};

// The models of the veScale-FSDP paper (arXiv 2602.22437) are not published. These have its sizes and the
// shapes of published mixture-of-experts models of that size.
constexpr const char* kReconstruction =
    "our own reconstruction: the models of the veScale-FSDP paper (arXiv 2602.22437) are not published";

constexpr ZooEntry kVescale[] = {
    {"vescale-moe-400b", kReconstruction,
     R"({"model_type": "vescale_moe", "hidden_size": 6144, "num_hidden_layers": 60, "num_attention_heads": 64,
         "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 129280, "n_routed_experts": 192,
         "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 1856})"},
    {"vescale-moe-800b", kReconstruction,
     R"({"model_type": "vescale_moe", "hidden_size": 7168, "num_hidden_layers": 70, "num_attention_heads": 64,
         "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 129280, "n_routed_experts": 256,
         "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048})"},
    {"vescale-moe-2.4t", kReconstruction,
     R"({"model_type": "vescale_moe", "hidden_size": 8192, "num_hidden_layers": 99, "num_attention_heads": 64,
         "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 129280, "n_routed_experts": 320,
         "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 3072})"},
};

}  // namespace

std::span<const ZooEntry> moeZoo() { return kMoe; }
std::span<const ZooEntry> vescaleZoo() { return kVescale; }

}  // namespace vsim::core
