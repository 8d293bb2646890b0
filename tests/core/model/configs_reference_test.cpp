// Real config.json files: every one must read, and give the published total.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>

#include "core/model/hf_config.h"
#include "core/model/model_graph.h"
#include "tests/support/reference.h"

using namespace vsim;

namespace {

// Elements that the published checkpoints hold (without multi-token-prediction modules and fp8 scales).
const std::map<std::string, std::int64_t> kPublished = {
    {"deepseek-r1", 671'026'419'200},       {"deepseek-v2-lite", 15'706'484'224},
    {"deepseek-v3", 671'026'419'200},       {"falcon-180b-chat", 179'522'565'120},
    {"gemma-2-9b", 9'241'705'984},          {"gpt-oss-120b", 116'829'156'672},
    {"gpt-oss-20b", 20'914'757'184},        {"kimi-k2-instruct", 1'026'408'232'448},
    {"llama-2-7b", 6'738'415'616},          {"llama-3-70b", 70'553'706'496},
    {"llama-3.1-405b", 405'853'388'800},    {"llama-3.1-70b", 70'553'706'496},
    {"llama-3.1-8b", 8'030'261'248},        {"mistral-7b", 7'241'732'096},
    {"mixtral-8x7b", 46'702'792'704},       {"phi-3-mini-128k", 3'821'079'552},
    {"qwen2.5-72b", 72'706'203'648},        {"qwen2.5-7b", 7'615'616'512},
    {"qwen3-235b-a22b", 235'093'634'560},   {"qwen3-30b-a3b", 30'532'122'624},
    {"qwen3-32b", 32'762'123'264},          {"qwen3-8b", 8'190'735'360},
    {"qwen3-next-80b-a3b", 79'674'391'296}, {"yi-34b", 34'388'917'248},
};

/// Totals that the folder's own README states in its table, by file stem; it wins over the list above.
std::map<std::string, std::int64_t> expectedTotals() {
  std::map<std::string, std::int64_t> totals = kPublished;
  std::ifstream readme(test::inputsFolder() + "/README.md");
  const std::regex row(R"(\| hf_configs/(\S+?)\.json(?:\.gz)? \|.*total parameters ([0-9,]+[0-9]))");
  for (std::string line; std::getline(readme, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, row)) continue;
    std::string digits = match[2];
    std::erase(digits, ',');
    totals[match[1]] = std::stoll(digits);
  }
  return totals;
}

}  // namespace

TEST_CASE("Every bundled or given config.json reads and has its total") {
  const std::string folder = test::inputsFolder() + "/hf_configs";
  std::vector<std::string> files = test::filesIn(folder, ".json");
  for (const std::string& name : test::filesIn(folder, ".json.gz")) files.push_back(name);
  if (files.empty()) {
    std::cout << "SKIPPED: no configs in " << folder << "\n";
    return;
  }
  const auto totals = expectedTotals();
  for (const std::string& file : files) {
    INFO("file " << file);
    const auto read = core::readHfConfig(folder + "/" + file);
    if (!read) {
      FAIL_CHECK(core::text(read.error()));
      continue;
    }
    const core::ModelGraph graph(read->config);
    const std::string stem = file.substr(0, file.find(".json"));
    CHECK(read->config.name == stem);
    CHECK(!read->ignored.empty());
    const auto known = totals.find(stem);
    if (known != totals.end())
      CHECK(graph.checkpointElements() == known->second);
    else
      CHECK(graph.parameterCount() > 0);
    CHECK(graph.activeParameterCount() > 0);
    CHECK(graph.activeParameterCount() <= graph.parameterCount());
  }
}
