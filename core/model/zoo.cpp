#include "core/model/zoo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/model/hf_config.h"
#include "core/model/zoo_entries.h"

namespace vsim::core {
namespace {

// Names that people use and that squeeze() below does not already lead to a preset.
constexpr std::pair<const char*, const char*> kAliases[] = {
    {"llama-3.1-8b", "llama-3-8b"},
    {"deepseek-v3-671b", "deepseek-v3"},
    {"deepseek-671b", "deepseek-v3"},
    {"deepseek-r1-671b", "deepseek-r1"},
    {"deepseek-v2-lite-16b", "deepseek-v2-lite"},
    {"kimi-k2-1t", "kimi-k2"},
    {"kimi-k2-instruct", "kimi-k2"},
    {"mixtral", "mixtral-8x7b"},
    {"gemma-3-27b", "gemma-3-27b-text"},
    {"llama-4-scout", "llama-4-scout-text"},
    {"phi-3-mini-128k", "phi-3-mini"},
    {"phi-3-mini-3.8b", "phi-3-mini"},
    {"gpt2-124m", "gpt2"},
    {"gpt2-small", "gpt2"},
    {"gpt-neox", "gpt-neox-20b"},
    {"bloom", "bloom-176b"},
    {"qwen3-next", "qwen3-next-80b-a3b"},
    {"qwen3-next-80b", "qwen3-next-80b-a3b"},
    {"qwen3-30b", "qwen3-30b-a3b"},
    {"qwen3-235b", "qwen3-235b-a22b"},
    {"glm-4.5-355b", "glm-4.5"},
    {"glm-4.5-air-106b", "glm-4.5-air"},
    {"minimax-text-01-456b", "minimax-text-01"},
    {"minimax-m2-230b", "minimax-m2"},
};

/// Lower case without dashes and underscores: "LLaMA3-8B" and "llama-3-8b" are the same name.
std::string squeeze(const std::string& name) {
  std::string result;
  for (const char c : name)
    if (c != '-' && c != '_') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::vector<ZooEntry> allEntries() {
  std::vector<ZooEntry> all;
  for (const auto& part : {denseZoo(), moeZoo(), mptZoo(), vescaleZoo()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

std::vector<std::string> presetNames() {
  std::vector<std::string> names;
  for (const ZooEntry& entry : allEntries()) names.emplace_back(entry.name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<ModelConfig> preset(const std::string& name) {
  std::string wanted = squeeze(name);
  for (const auto& [alias, target] : kAliases)
    if (wanted == squeeze(alias)) wanted = squeeze(target);
  for (const ZooEntry& entry : allEntries()) {
    if (wanted != squeeze(entry.name)) continue;
    auto read = parseHfConfig(entry.json, entry.name);
    VSIM_CHECK(read.has_value(), "bundled model: " + text(read.error()));
    read->config.name = entry.name;
    read->config.remark = entry.remark;
    return std::move(read->config);
  }
  std::vector<std::string> candidates = presetNames();
  for (const auto& [alias, target] : kAliases) candidates.emplace_back(alias);
  const std::string near = nearest(name, candidates);
  return fail(fmt::format("unknown model preset \"{}\"", name),
              near.empty() ? fmt::format("known: {}", fmt::join(presetNames(), ", "))
                           : fmt::format("did you mean \"{}\"?", near));
}

}  // namespace vsim::core
