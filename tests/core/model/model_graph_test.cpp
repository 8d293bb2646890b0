#include "core/model/model_graph.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "core/model/zoo.h"

using namespace vsim::core;

namespace {

ModelGraph graphOf(const std::string& name) {
  auto config = preset(name);
  if (!config) FAIL(config.error().text());
  return ModelGraph(std::move(*config));
}

const TensorSpec& tensorOf(const Module& module, const std::string& suffix) {
  for (const TensorSpec& tensor : module.tensors)
    if (tensor.name == module.name + suffix) return tensor;
  FAIL("no tensor " << module.name << suffix);
  return module.tensors.front();
}

}  // namespace

TEST_CASE("Modules stand in execution order and read the one before") {
  const ModelGraph graph = graphOf("llama-3-8b");
  const auto& modules = graph.modules();
  REQUIRE(modules.size() == 32 + 3);
  CHECK(modules.front().kind == ModuleKind::embedding);
  CHECK(modules.front().name == "model.embed_tokens");
  CHECK(modules[4].name == "model.layers.3");
  CHECK(modules[4].layer == 3);
  CHECK(modules[33].kind == ModuleKind::finalNorm);
  CHECK(modules[34].kind == ModuleKind::head);
  CHECK(graph.inputsOf(0).empty());
  for (std::size_t i = 1; i < modules.size(); ++i)
    CHECK(graph.inputsOf(i) == std::vector<std::size_t>{i - 1});
}

TEST_CASE("Layers with the same tensors and operations are one kind") {
  const auto kinds = [](const std::string& name) {
    std::set<int> ids;
    const ModelGraph graph = graphOf(name);
    for (const Module& module : graph.modules())
      if (module.kind == ModuleKind::layer) ids.insert(module.kindId);
    return ids.size();
  };
  CHECK(kinds("llama-3-70b") == 1);
  CHECK(kinds("deepseek-v3") == 2);         // dense layers first
  CHECK(kinds("gpt-oss-120b") == 2);        // every other layer has a window
  CHECK(kinds("qwen3-next-80b-a3b") == 2);  // every fourth layer has full attention
}

TEST_CASE("Modules of one kind have equal tensors under their own names") {
  const ModelGraph graph = graphOf("deepseek-v2-lite");
  std::map<int, const Module*> first;
  for (const Module& module : graph.modules()) {
    const Module& example = *first.try_emplace(module.kindId, &module).first->second;
    REQUIRE(module.tensors.size() == example.tensors.size());
    for (std::size_t i = 0; i < module.tensors.size(); ++i) {
      CHECK(module.tensors[i].shape == example.tensors[i].shape);
      CHECK(module.tensors[i].name.substr(module.name.size()) ==
            example.tensors[i].name.substr(example.name.size()));
    }
  }
}

TEST_CASE("A tied head has no tensor of its own") {
  const ModelGraph graph = graphOf("gemma-2-9b");
  CHECK(graph.config().tiedEmbeddings);
  CHECK(graph.modules().back().kind == ModuleKind::head);
  CHECK(graph.modules().back().tensors.empty());
}

TEST_CASE("Tensor parallelism cuts outputs, then inputs") {
  const ModelGraph llama = graphOf("llama-3-8b");
  const Module& layer = llama.modules()[1];
  CHECK(tensorOf(layer, ".self_attn.q_proj.weight").tensorParallelDim == 0);
  CHECK(tensorOf(layer, ".self_attn.o_proj.weight").tensorParallelDim == 1);
  CHECK(tensorOf(layer, ".mlp.down_proj.weight").tensorParallelDim == 1);
  CHECK(tensorOf(layer, ".input_layernorm.weight").tensorParallelDim == -1);
  const ModelGraph gpt2 = graphOf("gpt2");  // weights stored transposed
  const Module& old = gpt2.modules()[1];
  CHECK(tensorOf(old, ".attn.c_attn.weight").tensorParallelDim == 1);
  CHECK(tensorOf(old, ".attn.c_attn.bias").tensorParallelDim == 0);
  CHECK(tensorOf(old, ".attn.c_proj.weight").tensorParallelDim == 0);
  CHECK(tensorOf(old, ".attn.c_proj.bias").tensorParallelDim == -1);
}

TEST_CASE("Routed experts are marked, shared ones and routers are not") {
  const ModelGraph graph = graphOf("deepseek-v3");
  const Module& layer = graph.modules()[4];
  CHECK(layer.name == "model.layers.3");
  CHECK(tensorOf(layer, ".mlp.experts.255.down_proj.weight").routedExpert);
  CHECK(!tensorOf(layer, ".mlp.shared_experts.down_proj.weight").routedExpert);
  CHECK(!tensorOf(layer, ".mlp.gate.weight").routedExpert);
  const ModelGraph fused = graphOf("gpt-oss-20b");
  CHECK(tensorOf(fused.modules()[1], ".mlp.experts.gate_up_proj").routedExpert);
  CHECK(tensorOf(fused.modules()[1], ".mlp.experts.down_proj_bias").routedExpert);
  CHECK(fused.config().fusedExperts);
}
