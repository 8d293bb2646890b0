#include <array>
#include <filesystem>
#include <utility>

#include "core/model/zoo.h"
#include "core/scenario/lookup.h"
#include "core/scenario/sections.h"

namespace vsim::core {
namespace {

constexpr std::int64_t kMaxLayers = 4096, kMaxWidth = std::int64_t{1} << 20, kMaxExperts = 65'536;
constexpr std::int64_t kMaxVocabulary = std::int64_t{1} << 26, kMaxWindow = std::int64_t{1} << 30;

constexpr std::array<std::pair<std::string_view, MlpKind>, 2> kMlps{
    {{"gated", MlpKind::gated}, {"plain", MlpKind::plain}}};
constexpr std::array<std::pair<std::string_view, NormKind>, 2> kNorms{
    {{"rms", NormKind::rms}, {"layer", NormKind::layer}}};

bool readPreset(ReadContext& context, const Node& node, Scenario& scenario) {
  const auto name = wordAt(context.problems, node, "model.preset");
  if (!name) return false;
  const std::string key = "preset " + *name;
  if (!context.models.contains(key)) {
    auto config = preset(*name);
    if (config)
      context.models.emplace(key, HfConfig{std::move(*config), {}});
    else
      context.models.emplace(key, tl::unexpected(Errors{config.error()}));
  }
  const auto& model = context.models.at(key);
  if (!model) {
    const std::string hint = suggestion(*name, presetNames(), "presets");
    context.problems.add(node.place, fmt::format("model.preset: {} is not known", shownValue(*name)), hint);
    return false;
  }
  scenario.model = model->config;
  return true;
}

bool readConfigFile(ReadContext& context, const Node& node, Scenario& scenario) {
  const auto name = wordAt(context.problems, node, "model.hf_config");
  if (!name) return false;
  std::error_code error;
  // A path typed on the command line is meant from there.
  const bool here = node.place.source > 0 && std::filesystem::is_regular_file(*name, error);
  const std::string path = here ? *name : findBeside(*name, context.path, context.options);
  if (path.empty()) {
    context.problems.add(node.place, fmt::format("model.hf_config: {} is not there", shownValue(*name)),
                         "paths count from the scenario's folder");
    return false;
  }
  if (!context.models.contains(path)) context.models.emplace(path, readHfConfig(path));
  const auto& model = context.models.at(path);
  if (!model) {
    for (const Error& problem : model.error()) context.problems.add(problem);
    return false;
  }
  scenario.model = model->config;
  scenario.ignoredModelFields = model->ignored;
  return true;
}

bool readAttention(Section& section, ModelConfig& config) {
  bool right = section.require("heads", "the number of attention heads") != nullptr;
  right = section.count("heads", config.heads, 1, kMaxWidth) && right;
  config.kvHeads = config.heads;
  const Node* kvHeads = section.find("kv_heads");
  const bool kvRight = section.count("kv_heads", config.kvHeads, 1, kMaxWidth);
  const Node* headDim = section.find("head_dim");
  const bool dimRight = section.count("head_dim", config.headDim, 1, kMaxWidth);
  section.flag("qk_norm", config.qkNorm);
  if (section.count("sliding_window", config.slidingWindow, 1, kMaxWindow))
    config.windowed.assign(static_cast<std::size_t>(config.layers), true);
  if (!right || (kvHeads && !kvRight) || (headDim && !dimRight)) return false;
  if (kvHeads && config.heads % config.kvHeads != 0) {
    section.problems().add(kvHeads->place, fmt::format("model.kv_heads: {} does not divide heads {}",
                                                       config.kvHeads, config.heads));
    return false;
  }
  if (!headDim && config.hidden % config.heads != 0) {
    section.problems().add(
        section.find("heads")->place,
        fmt::format("model.heads: {} does not divide hidden {}", config.heads, config.hidden),
        "or give head_dim");
    return false;
  }
  if (!headDim) config.headDim = config.hidden / config.heads;
  config.headDimValue = config.headDim;
  return true;
}

bool readExperts(Section& section, ModelConfig& config) {
  const Node* experts = section.find("experts");
  std::int64_t denseLayers = 0;
  if (!experts) {
    bool alone = true;
    for (const char* key : {"experts_per_token", "expert_intermediate", "shared_experts", "dense_layers"})
      if (const Node* node = section.find(key); node && std::exchange(alone, false))
        section.problems().add(node->place, fmt::format("model.{} without model.experts", key));
    if (!alone) return false;
    return section.require("intermediate", "the MLP's width") != nullptr;
  }
  bool right = section.count("experts", config.experts, 1, kMaxExperts);
  right = section.require("experts_per_token", "routed experts that a token meets") != nullptr && right;
  right = section.require("expert_intermediate", "the width of one expert") != nullptr && right;
  right = section.count("experts_per_token", config.expertsPerToken, 1, kMaxExperts) && right;
  right = section.count("expert_intermediate", config.expertIntermediate, 1, kMaxWidth) && right;
  if (section.find("shared_experts"))
    right = section.count("shared_experts", config.sharedExperts, 0, kMaxExperts) && right;
  if (section.find("dense_layers"))
    right = section.count("dense_layers", denseLayers, 0, config.layers) && right;
  if (denseLayers > 0) right = section.require("intermediate", "the width of the dense layers") && right;
  if (!right) return false;
  if (config.expertsPerToken > config.experts) {
    section.problems().add(section.find("experts_per_token")->place,
                           fmt::format("model.experts_per_token: {} is more than the {} experts",
                                       config.expertsPerToken, config.experts));
    return false;
  }
  config.sharedIntermediate = config.sharedExperts * config.expertIntermediate;
  config.moe.assign(static_cast<std::size_t>(config.layers), true);
  std::fill_n(config.moe.begin(), denseLayers, false);
  return true;
}

/// Elements in doubles, to refuse what would overflow before anything multiplies it in integers.
bool sizesFit(Section& section, const ModelConfig& config) {
  const auto d = [](std::int64_t value) { return static_cast<double>(value); };
  const double attention = 4 * d(config.hidden) * d(config.heads) * d(config.headDim);
  const double dense = 3 * d(config.hidden) * d(config.intermediate);
  const double experts =
      3 * d(config.hidden) * d(config.experts + config.sharedExperts) * d(config.expertIntermediate);
  const double total =
      d(config.layers) * (attention + dense + experts) + 2 * d(config.vocabulary) * d(config.hidden);
  if (total > 1e17) {
    section.problems().add(section.place(),
                           fmt::format("model: about {:.1e} parameters are more than 1e17", total));
    return false;
  }
  if (config.layers * std::max<std::int64_t>(1, config.experts) > (std::int64_t{1} << 20)) {
    section.problems().add(section.place(), "model: more than 1,048,576 experts in all layers together");
    return false;
  }
  return true;
}

/// Known families by their tensor names: what an explicit model's tensors are called.
std::string familyOf(const ModelConfig& config) {
  if (config.experts == 0) return config.qkNorm ? "qwen3" : "llama";
  return config.sharedExperts > 0 ? "glm4_moe" : "qwen3_moe";
}

}  // namespace

bool readExplicitModel(Section& section, ModelConfig& config) {
  Problems& problems = section.problems();
  config = ModelConfig{};
  config.name = "explicit";
  section.word("name", config.name);
  bool right = true;
  for (const char* key : {"layers", "hidden", "vocabulary"})
    right = section.require(key, "an explicit model needs it; or give preset or hf_config") && right;
  right = section.count("layers", config.layers, 1, kMaxLayers) && right;
  right = section.count("hidden", config.hidden, 1, kMaxWidth) && right;
  right = section.count("vocabulary", config.vocabulary, 1, kMaxVocabulary) && right;
  if (section.find("intermediate"))
    right = section.count("intermediate", config.intermediate, 1, kMaxWidth) && right;
  section.flag("tied_embeddings", config.tiedEmbeddings);
  section.flag("qkv_bias", config.qkvBias);
  section.choice("mlp", config.mlp, Choices<MlpKind>(kMlps), "kinds of MLP");
  section.choice("norm", config.norm, Choices<NormKind>(kNorms), "norms");
  right = readAttention(section, config) && right;
  right = readExperts(section, config) && right;
  if (const Node* dtype = section.find("dtype")) {
    const auto word = wordAt(problems, *dtype, "model.dtype");
    const auto type = word ? dtypeFromName(*word) : std::nullopt;
    if (type)
      config.dtype = *type;
    else if (word)
      problems.add(dtype->place, fmt::format("model.dtype: {} is not known", shownValue(*word)),
                   suggestion(*word, {"fp32", "bf16", "fp16", "fp8"}, "types"));
  }
  config.modelType = familyOf(config);
  return right && sizesFit(section, config);
}

bool readModel(ReadContext& context, Section& top, Scenario& scenario) {
  const Node* node = top.require("model", "for example model: {preset: llama-3-8b}");
  if (!node) return false;
  Section section(context.problems, node, "model");
  if (!section.present()) return false;
  const Node* presetNode = section.find("preset");
  const Node* file = section.find("hf_config");
  if (presetNode && file) {
    context.problems.add(file->place, "model: either preset or hf_config, not both");
    return false;
  }
  bool right = false;
  if (presetNode) {
    right = readPreset(context, *presetNode, scenario);
  } else if (file) {
    right = readConfigFile(context, *file, scenario);
  } else {
    right = readExplicitModel(section, scenario.model);
    section.finish();
    return right;
  }
  for (const auto& [key, value] : node->pairs)
    if (key->kind == NodeKind::scalar && key->value != "preset" && key->value != "hf_config")
      context.problems.add(key->place,
                           fmt::format("model.{}: a preset or a config file already says all", key->value),
                           "leave it out, or describe the model by its sizes alone");
  return right;
}

}  // namespace vsim::core
