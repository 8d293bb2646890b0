#include <algorithm>
#include <array>

#include "core/scenario/sections.h"

namespace vsim::core {
namespace {

constexpr std::size_t kMaxRules = 1000;
constexpr std::int64_t kMaxBlock = std::int64_t{1} << 20;
constexpr std::array<std::pair<std::string_view, DType>, 6> kTypes{{{"fp32", DType::fp32},
                                                                    {"bf16", DType::bf16},
                                                                    {"fp16", DType::fp16},
                                                                    {"float32", DType::fp32},
                                                                    {"bfloat16", DType::bf16},
                                                                    {"float16", DType::fp16}}};
const std::vector<std::string> kOptimizers{"adamw", "adam8bit", "sgd"};

/// [rows, columns], both at least 1.
std::vector<std::int64_t> blockAt(Problems& problems, const Node& node, const std::string& path) {
  if (node.kind != NodeKind::sequence || node.items.size() != 2) {
    expected(problems, node, path, "two numbers such as [32, 32]");
    return {};
  }
  std::vector<std::int64_t> block;
  for (const Node* item : node.items) {
    const auto value = countAt(problems, *item, path, 1, kMaxBlock);
    if (value) block.push_back(*value);
  }
  if (block.size() != 2) block.clear();
  return block;
}

void readRule(Problems& problems, const Node& node, const std::string& path,
              std::vector<GranularityRule>& rules) {
  Section section(problems, &node, path);
  if (!section.present()) return;
  GranularityRule rule;
  section.word("match", rule.match);
  section.count("elements", rule.elements, 1, std::int64_t{1} << 40);
  section.count("rows", rule.rows, 1, std::int64_t{1} << 30);
  section.flag("whole", rule.whole);
  const Node* tile = section.find("tile");
  if (tile) rule.tile = blockAt(problems, *tile, section.pathOf("tile"));
  int sizes = tile ? 1 : 0;
  for (const char* key : {"elements", "rows", "whole"}) sizes += section.find(key) ? 1 : 0;
  section.finish();
  if (sizes != 1)
    problems.add(section.place(),
                 fmt::format("{}: exactly one of elements, rows, tile and whole, not {}", path, sizes));
  rules.push_back(std::move(rule));
}

void readGranularity(Problems& problems, const Node* node, std::vector<GranularityRule>& rules) {
  if (!node) return;
  if (node->kind != NodeKind::sequence) {
    expected(problems, *node, "granularity", "a list such as [{match: \"*\", tile: [32, 32]}]");
    return;
  }
  if (node->items.size() > kMaxRules) {
    problems.add(node->place, fmt::format("granularity: more than {} rules", kMaxRules));
    return;
  }
  for (std::size_t i = 0; i < node->items.size(); ++i)
    readRule(problems, *node->items[i], fmt::format("granularity.{}", i), rules);
}

}  // namespace

void readPrecision(ReadContext& context, Section& top, Scenario& scenario) {
  Section section(context.problems, top.find("precision"), "precision");
  PrecisionSpec& precision = scenario.precision;
  section.choice("params", precision.params, Choices<DType>(kTypes), "types");
  section.choice("compute", precision.compute, Choices<DType>(kTypes), "types");
  section.choice("reduce", precision.reduce, Choices<DType>(kTypes), "types");
  section.finish();
}

void readOptimizer(ReadContext& context, Section& top, Scenario& scenario) {
  Problems& problems = context.problems;
  OptimizerSpec& optimizer = scenario.optimizer;
  const Node* node = top.find("optimizer");
  const bool plainName = node && node->kind == NodeKind::scalar;
  Section section(problems, plainName ? nullptr : node, "optimizer");
  const Node* name = plainName ? node : section.find("name");
  const Node* block = section.find("block");
  section.finish();
  bool right = true;
  if (name) {
    const auto word = wordAt(problems, *name, "optimizer.name");
    right = word && std::find(kOptimizers.begin(), kOptimizers.end(), *word) != kOptimizers.end();
    if (right)
      optimizer.name = *word;
    else if (word && *word == "muon")
      problems.add(name->place, "optimizer.name: 'muon' cannot be simulated in this version",
                   "known optimizers: adamw, adam8bit, sgd");
    else if (word)
      problems.add(name->place, fmt::format("optimizer.name: {} is not known", shownValue(*word)),
                   suggestion(*word, kOptimizers, "optimizers"));
  }
  if (right && block && optimizer.name != "adam8bit")
    problems.add(block->place, fmt::format("optimizer.block: {} has no blocks", optimizer.name),
                 "only adam8bit has");
  else if (block)
    optimizer.block = blockAt(problems, *block, "optimizer.block");
  else if (optimizer.name == "adam8bit")
    optimizer.block = {32, 32};
  readGranularity(problems, top.find("granularity"), scenario.granularity);
  if (!optimizer.block.empty()) {
    GranularityRule rule;
    rule.tile = optimizer.block;
    const bool covered = std::any_of(scenario.granularity.begin(), scenario.granularity.end(),
                                     [](const GranularityRule& other) { return other.match == "*"; });
    if (!covered) scenario.granularity.push_back(std::move(rule));
  }
}

}  // namespace vsim::core
