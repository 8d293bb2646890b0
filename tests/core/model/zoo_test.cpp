#include "core/model/zoo.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "core/model/model_graph.h"

using namespace vsim::core;

namespace {

ModelGraph graphOf(const std::string& name) {
  auto config = preset(name);
  if (!config) FAIL(config.error().text());
  return ModelGraph(std::move(*config));
}

}  // namespace

TEST_CASE("Totals equal the published checkpoints") {
  const std::pair<const char*, std::int64_t> totals[] = {
      {"llama-3-8b", 8'030'261'248},
      {"llama-3-70b", 70'553'706'496},
      {"llama-3.1-405b", 405'853'388'800},
      {"mixtral-8x7b", 46'702'792'704},
      {"deepseek-v3", 671'026'419'200},
      {"qwen3-30b-a3b", 30'532'122'624},
      {"qwen3-235b-a22b", 235'093'634'560},
      {"gpt-oss-120b", 116'829'156'672},
      {"gpt2", 124'439'808},
      {"bloom-176b", 176'247'271'424},
      {"opt-66b", 65'719'701'504},
      {"kimi-k2", 1'026'408'232'448},
  };
  for (const auto& [name, total] : totals) {
    INFO(name);
    CHECK(graphOf(name).checkpointElements() == total);
  }
}

TEST_CASE("DeepSeek's router biases are stored but not trained") {
  const ModelGraph graph = graphOf("deepseek-v3");
  CHECK(graph.checkpointElements() - graph.parameterCount() == 58 * 256);
  std::int64_t biases = 0;
  for (const Module& module : graph.modules())
    for (const TensorSpec& tensor : module.tensors)
      if (tensor.buffer) {
        ++biases;
        CHECK(tensor.name == module.name + ".mlp.gate.e_score_correction_bias");
        CHECK(tensor.dtype == DType::fp32);
      }
  CHECK(biases == 58);
}

TEST_CASE("Active parameters are those that a token meets") {
  // The 37 billion of arXiv 2412.19437 and the 12.9 billion of arXiv 2401.04088.
  CHECK(static_cast<double>(graphOf("deepseek-v3").activeParameterCount()) == Approx(37.5e9).epsilon(0.01));
  CHECK(static_cast<double>(graphOf("mixtral-8x7b").activeParameterCount()) == Approx(12.9e9).epsilon(0.005));
  const ModelGraph dense = graphOf("llama-3-8b");
  CHECK(dense.activeParameterCount() == dense.parameterCount());
}

TEST_CASE("MPT sizes fit the parameter counts of llm-foundry's throughput tables") {
  // Billions at a sequence of 2,048, as the tables print them.
  const std::pair<const char*, double> totals[] = {
      {"mpt-125m", 0.125311}, {"mpt-350m", 0.355985}, {"mpt-760m", 0.760471},
      {"mpt-1b", 1.31595},    {"mpt-3b", 2.65184},    {"mpt-7b", 6.65886},
      {"mpt-13b", 12.854},    {"mpt-30b", 29.9752},   {"mpt-70b", 64.8624},
  };
  for (const auto& [name, billions] : totals) {
    INFO(name);
    CHECK(static_cast<double>(graphOf(name).parameterCount()) / 1e9 == Approx(billions).epsilon(4e-6));
  }
}

TEST_CASE("The reconstructed models say that they are reconstructions") {
  const std::pair<const char*, double> totals[] = {
      {"vescale-moe-400b", 400e9}, {"vescale-moe-800b", 803.5e9}, {"vescale-moe-2.4t", 2.4e12}};
  for (const auto& [name, total] : totals) {
    INFO(name);
    const ModelGraph graph = graphOf(name);
    CHECK(graph.config().remark.find("our own reconstruction") != std::string::npos);
    CHECK(static_cast<double>(graph.parameterCount()) == Approx(total).epsilon(0.02));
  }
  CHECK(static_cast<double>(graphOf("vescale-moe-800b").parameterCount()) == Approx(803.5e9).epsilon(1e-4));
}

TEST_CASE("Short forms and spellings are aliases") {
  CHECK(preset("llama3-8b")->name == "llama-3-8b");
  CHECK(preset("LLaMA-3.1-8B")->name == "llama-3-8b");
  CHECK(preset("llama3.1-405b")->name == "llama-3.1-405b");
  CHECK(preset("deepseek-v3-671b")->name == "deepseek-v3");
  CHECK(preset("gemma2-9b")->name == "gemma-2-9b");
  CHECK(preset("llama4-scout")->name == "llama-4-scout-text");
  std::set<std::string> squeezed;
  for (std::string name : presetNames()) {
    std::erase(name, '-');
    CHECK(squeezed.insert(name).second);
  }
}

TEST_CASE("Names are sorted, without aliases, and all of them build") {
  const std::vector<std::string> names = presetNames();
  CHECK(names.size() == 37 + 9 + 3);
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(std::find(names.begin(), names.end(), "llama3-8b") == names.end());
  for (const std::string& name : names) {
    INFO(name);
    CHECK(!preset(name)->remark.empty());
    CHECK(graphOf(name).config().name == name);
  }
}

TEST_CASE("An unknown preset is refused with the nearest name") {
  CHECK(preset("llama-3-8bb").error().hint == "did you mean \"llama-3-8b\"?");
  CHECK(preset("deepsek-v3").error().hint == "did you mean \"deepseek-v3\"?");
  CHECK(preset("").error().message == "unknown model preset \"\"");
  CHECK(preset("something-else-entirely").error().hint.find("known: bloom-176b, ") == 0);
}
