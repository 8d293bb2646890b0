#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/layout.h"

// Layers that the reference tables name but do not list.
namespace vsim::test {

using Shape = std::vector<std::int64_t>;
using Tensors = std::vector<core::PlanTensor>;

inline core::PlanTensor tensorOf(std::string name, Shape shape, int shardDim = 0) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) elements *= size;
  return {.name = std::move(name), .shape = std::move(shape), .elements = elements, .shardDim = shardDim};
}

inline Tensors tensorsOf(std::initializer_list<std::pair<const char*, Shape>> list) {
  Tensors tensors;
  for (const auto& [name, shape] : list) tensors.push_back(tensorOf(name, shape));
  return tensors;
}

/// "7x5" -> {7, 5}; "" -> {}.
inline Shape shapeOf(const std::string& text) {
  Shape shape;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, 'x');) shape.push_back(std::stoll(part));
  return shape;
}

inline Tensors llamaLayer(std::int64_t hidden, std::int64_t keys, std::int64_t inner) {
  return tensorsOf({{"attn.q.weight", {hidden, hidden}},
                    {"attn.k.weight", {keys, hidden}},
                    {"attn.v.weight", {keys, hidden}},
                    {"attn.o.weight", {hidden, hidden}},
                    {"mlp.gate.weight", {inner, hidden}},
                    {"mlp.up.weight", {inner, hidden}},
                    {"mlp.down.weight", {hidden, inner}},
                    {"norm1.weight", {hidden}},
                    {"norm2.weight", {hidden}}});
}

/// The four layers of pytorch/padding_vectors.csv.
inline std::map<std::string, Tensors> paddingLayers() {
  return {
      {"toy", tensorsOf({{"a", {10, 6}}, {"b", {10}}, {"c", {7}}})},
      {"llama8b", llamaLayer(4096, 1024, 14336)},
      {"moe", tensorsOf({{"gate_up", {128, 1536, 2048}}, {"down", {128, 2048, 768}}, {"gate", {128, 2048}}})},
      {"odd",
       tensorsOf({{"a", {2880, 2880}}, {"b", {2880}}, {"c", {5120, 2880}}, {"d", {5120}}, {"e", {201}}})}};
}

inline Tensors joined(Tensors first, const Tensors& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Experts as one gate, one up and one down matrix each.
inline Tensors expertMatrices(std::int64_t experts, std::int64_t hidden, std::int64_t inner) {
  Tensors tensors;
  for (std::int64_t e = 0; e < experts; ++e) {
    tensors.push_back(tensorOf(fmt::format("mlp.experts.{}.gate", e), {inner, hidden}));
    tensors.push_back(tensorOf(fmt::format("mlp.experts.{}.up", e), {inner, hidden}));
    tensors.push_back(tensorOf(fmt::format("mlp.experts.{}.down", e), {hidden, inner}));
  }
  return tensors;
}

/// `module` is "experts", or another name for experts that go with the other tensors.
inline Tensors fusedExperts(const std::string& module, std::int64_t experts, std::int64_t hidden,
                            std::int64_t inner) {
  return {tensorOf("mlp." + module + ".gate_up", {experts, 2 * inner, hidden}),
          tensorOf("mlp." + module + ".down", {experts, hidden, inner})};
}

inline Tensors gptOssExperts(const std::string& module) {
  return {tensorOf("mlp." + module + ".gate_up_proj", {128, 2880, 5760}),
          tensorOf("mlp." + module + ".gate_up_bias", {128, 5760}),
          tensorOf("mlp." + module + ".down_proj", {128, 2880, 2880}),
          tensorOf("mlp." + module + ".down_bias", {128, 2880})};
}

/// The layers of megatron/buffer_sizes.csv, their tensors in order of registration (published model
/// configurations; order among rows of one size as the table's v1_order has it).
inline std::map<std::string, Tensors> megatronLayers() {
  const Tensors qwen = tensorsOf({{"attn.q.weight", {4096, 2048}},
                                  {"attn.k.weight", {512, 2048}},
                                  {"attn.v.weight", {512, 2048}},
                                  {"attn.o.weight", {2048, 4096}},
                                  {"attn.qn.weight", {128}},
                                  {"attn.kn.weight", {128}},
                                  {"norm1.weight", {2048}},
                                  {"norm2.weight", {2048}},
                                  {"mlp.gate.weight", {128, 2048}}});
  const Tensors qwenRouter = tensorsOf({{"mlp.gate.weight", {128, 2048}}});
  const Tensors gptOss = tensorsOf({{"attn.sinks", {64}},
                                    {"attn.q.weight", {4096, 2880}},
                                    {"attn.q.bias", {4096}},
                                    {"attn.k.weight", {512, 2880}},
                                    {"attn.k.bias", {512}},
                                    {"attn.v.weight", {512, 2880}},
                                    {"attn.v.bias", {512}},
                                    {"attn.o.weight", {2880, 4096}},
                                    {"attn.o.bias", {2880}},
                                    {"norm1.weight", {2880}},
                                    {"norm2.weight", {2880}},
                                    {"mlp.router.weight", {128, 2880}},
                                    {"mlp.router.bias", {128}}});
  const Tensors deepseek = tensorsOf({{"attn.q_a.weight", {1536, 7168}},
                                      {"attn.q_a_norm.weight", {1536}},
                                      {"attn.q_b.weight", {24576, 1536}},
                                      {"attn.kv_a.weight", {576, 7168}},
                                      {"attn.kv_a_norm.weight", {512}},
                                      {"attn.kv_b.weight", {32768, 512}},
                                      {"attn.o.weight", {7168, 16384}},
                                      {"norm1.weight", {7168}},
                                      {"norm2.weight", {7168}},
                                      {"mlp.gate.weight", {256, 7168}},
                                      {"mlp.gate.bias", {256}},
                                      {"mlp.shared_experts.gate.weight", {2048, 7168}},
                                      {"mlp.shared_experts.up.weight", {2048, 7168}},
                                      {"mlp.shared_experts.down.weight", {7168, 2048}}});
  return {{"toy", paddingLayers().at("toy")},
          {"odd", paddingLayers().at("odd")},
          {"check_P0_P4",
           tensorsOf({{"p0", {2, 6}}, {"p1", {4, 4}}, {"p2", {4, 4}}, {"p3", {1, 2}}, {"p4", {1, 6}}})},
          {"llama3_8b", llamaLayer(4096, 1024, 14336)},
          {"llama3_70b", llamaLayer(8192, 1024, 28672)},
          {"llama3_405b", llamaLayer(16384, 1024, 53248)},
          {"llama3_8b_fused", tensorsOf({{"attn.norm", {4096}},
                                         {"attn.qkv.weight", {6144, 4096}},
                                         {"attn.o.weight", {4096, 4096}},
                                         {"mlp.norm", {4096}},
                                         {"mlp.fc1.weight", {28672, 4096}},
                                         {"mlp.fc2.weight", {4096, 14336}}})},
          {"llama3_8b_root",
           tensorsOf(
               {{"embed.weight", {128256, 4096}}, {"norm.weight", {4096}}, {"head.weight", {128256, 4096}}})},
          {"qwen3_30b_moe", joined(fusedExperts("experts", 128, 2048, 768), qwenRouter)},
          {"qwen3_30b_moe_one_group", joined(fusedExperts("moe_w", 128, 2048, 768), qwenRouter)},
          {"qwen3_30b_layer", joined(qwen, fusedExperts("experts", 128, 2048, 768))},
          {"qwen3_30b_layer_one_group", joined(qwen, fusedExperts("moe_w", 128, 2048, 768))},
          {"qwen3_30b_layer_2d_experts", joined(qwen, expertMatrices(128, 2048, 768))},
          {"gpt_oss_120b_layer", joined(gptOss, gptOssExperts("experts"))},
          {"gpt_oss_120b_layer_one_group", joined(gptOss, gptOssExperts("moe_w"))},
          {"deepseek_v3_layer", joined(deepseek, fusedExperts("experts", 256, 7168, 2048))},
          {"deepseek_v3_layer_one_group", joined(deepseek, fusedExperts("moe_w", 256, 7168, 2048))},
          {"deepseek_v3_layer_2d_experts", joined(deepseek, expertMatrices(256, 7168, 2048))}};
}

}  // namespace vsim::test
