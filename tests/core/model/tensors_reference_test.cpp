// Names, shapes and counts of every preset's tensors against listings made with the library itself.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "core/model/model_graph.h"
#include "core/model/zoo.h"
#include "tests/support/reference.h"

using namespace vsim;

namespace {

const std::string kFolder = "pytorch/model_tensors";

/// All tensors that share a name up to layer and expert index, and a shape.
struct Family {
  std::set<std::int64_t> layers, experts;
  std::int64_t tensors = 0, elementsEach = 0;
  bool operator==(const Family&) const = default;
};
using Families = std::map<std::string, Family>;

/// "0-2 4 6-7" as a set.
std::set<std::int64_t> parseRanges(const std::string& text) {
  std::set<std::int64_t> result;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto dash = word.find('-');
    const std::int64_t first = std::stoll(word),
                       last = dash == std::string::npos ? first : std::stoll(word.substr(dash + 1));
    for (std::int64_t i = first; i <= last; ++i) result.insert(i);
  }
  return result;
}

Families parseListing(const std::string& text) {
  Families families;
  for (const test::CsvRow& row : test::parseCsv(text)) {
    Family& family = families[row.at("name") + " " + row.at("shape")];
    family.layers = parseRanges(row.at("layers"));
    if (row.count("experts")) family.experts = parseRanges(row.at("experts"));
    family.tensors = std::stoll(row.at("tensors"));
    family.elementsEach = std::stoll(row.at("elements_each"));
  }
  return families;
}

std::string shapeText(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

Families fold(const core::ModelGraph& graph, bool withBuffers) {
  Families families;
  for (const core::Module& module : graph.modules()) {
    for (const core::TensorSpec& tensor : module.tensors) {
      if (tensor.buffer && !withBuffers) continue;
      std::string name = tensor.name;
      std::int64_t expert = -1;
      if (const auto at = name.find(".experts."); at != std::string::npos && std::isdigit(name[at + 9])) {
        expert = std::strtoll(name.c_str() + at + 9, nullptr, 10);
        name.replace(at + 9, name.find('.', at + 9) - at - 9, "{E}");
      }
      if (module.layer >= 0) {
        const auto index = module.name.rfind('.') + 1;
        name.replace(index, module.name.size() - index, "{L}");
      }
      Family& family = families[name + " " + shapeText(tensor.shape)];
      if (module.layer >= 0) family.layers.insert(module.layer);
      if (expert >= 0) family.experts.insert(expert);
      ++family.tensors;
      family.elementsEach = tensor.elements();
    }
  }
  return families;
}

std::string difference(const Families& ours, const Families& expected) {
  std::string text;
  for (const auto& [name, family] : expected)
    if (!ours.count(name))
      text += "\n  missing: " + name;
    else if (!(ours.at(name) == family))
      text += "\n  layers, experts or counts differ: " + name;
  for (const auto& [name, family] : ours)
    if (!expected.count(name)) text += "\n  not in the listing: " + name;
  return text;
}

std::int64_t total(const Families& families) {
  std::int64_t sum = 0;
  for (const auto& [name, family] : families) sum += family.tensors * family.elementsEach;
  return sum;
}

/// Names of the models in the folder, from NAME.csv, NAME.checkpoint.csv, gzipped or not.
std::set<std::string> listedModels() {
  std::set<std::string> models;
  for (const char* suffix : {".csv", ".csv.gz"})
    for (std::string name : test::filesIn(test::validationFolder() + "/" + kFolder, suffix)) {
      name.resize(name.size() - std::string(suffix).size());
      if (name.ends_with(".checkpoint")) name.resize(name.size() - std::string(".checkpoint").size());
      models.insert(name);
    }
  return models;
}

bool listed(const std::string& name) {
  const std::string folder = test::validationFolder() + "/" + kFolder;
  return !test::filesIn(folder, name).empty() || !test::filesIn(folder, name + ".gz").empty();
}

}  // namespace

TEST_CASE("Every preset has the tensors of its listing") {
  const std::set<std::string> models = listedModels();
  if (models.empty()) {
    std::cout << "SKIPPED: no listings in " << test::validationFolder() << "/" << kFolder << "\n";
    return;
  }
  for (const std::string& model : models) {
    INFO("model " << model);
    const auto config = core::preset(model);
    if (!config) {
      FAIL_CHECK("no preset for the listing " << model << ": " << config.error().text());
      continue;
    }
    const core::ModelGraph graph(*config);
    const std::string checkpoint = kFolder + "/" + model + ".checkpoint.csv";
    const std::string inMemory = kFolder + "/" + model + ".csv";
    const bool differs = listed("/" + model + ".checkpoint.csv") || listed(model + ".checkpoint.csv");
    const auto listing = test::referenceText(differs ? checkpoint : inMemory);
    REQUIRE(listing);
    const Families expected = parseListing(*listing);
    REQUIRE(!expected.empty());
    CHECK(difference(fold(graph, differs), expected) == "");
    CHECK((differs ? graph.checkpointElements() : graph.parameterCount()) == total(expected));
    if (!differs || !listed(model + ".csv")) continue;
    if (const auto parameters = test::referenceText(inMemory))
      CHECK(graph.parameterCount() == total(parseListing(*parameters)));
  }
}

TEST_CASE("Totals and sizes of model_parameters.csv") {
  const auto text = test::referenceText("pytorch/model_parameters.csv");
  if (!text) return;
  const auto rows = test::parseCsv(*text);
  REQUIRE(!rows.empty());
  for (const test::CsvRow& row : rows) {
    INFO("model " << row.at("model"));
    const auto config = core::preset(row.at("model"));
    if (!config) {
      FAIL_CHECK(config.error().text());
      continue;
    }
    const core::ModelGraph graph(*config);
    std::int64_t tensors = 0;
    for (const core::Module& module : graph.modules()) tensors += std::ssize(module.tensors);
    const auto same = [&](const char* column, std::int64_t value) {
      if (row.at(column).empty()) return;
      INFO(column);
      CHECK(value == std::stoll(row.at(column)));
    };
    same("parameters", graph.parameterCount());
    same("checkpoint_elements", graph.checkpointElements());
    same("expected", graph.checkpointElements());
    same("checkpoint_tensors", tensors);
    same("vocab_size", config->vocabulary);
    same("hidden_size", config->hidden);
    same("num_hidden_layers", config->layers);
    same("num_attention_heads", config->heads);
    if (config->attention != core::AttentionKind::mla) same("head_dim", config->headDim);
    same("moe_intermediate_size", config->expertIntermediate);
    same("num_experts_per_tok", config->expertsPerToken);
    same("n_shared_experts", config->sharedExperts);
    same("kv_lora_rank", config->kvLoraRank);
    CHECK(config->tiedEmbeddings == (row.at("tie_word_embeddings") == "True"));
  }
}
