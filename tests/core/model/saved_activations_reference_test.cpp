// Tensor by tensor against what autograd kept (validation/pytorch/fsdp2_memory.md describes the recording).
#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/checked.h"
#include "core/model/costs.h"
#include "tests/core/model/recorded_models.h"
#include "tests/support/reference.h"

namespace {

using namespace vsim::core;
using vsim::test::CsvRow;
using vsim::test::describedModel;

std::vector<std::int64_t> shapeOf(const CsvRow& row) {
  std::vector<std::int64_t> shape;
  std::istringstream text(row.at("shape"));
  for (std::string part; std::getline(text, part, 'x');) shape.push_back(std::stoll(part));
  return shape;
}

/// Dimensions of a model that the page does not name, from shapes that determine them; all other shapes
/// and every storage are still predicted.
ModelConfig inferredModel(const std::string& name, const std::vector<CsvRow>& rows) {
  ModelConfig c;
  c.name = name;
  c.layers = 1;
  for (const CsvRow& row : rows) {
    if (row.at("model") != name) continue;
    const std::string what = row.at("node") + "." + row.at("saved_as");
    const auto is = [&](const char* node) { return what == node; };
    if (row.at("shape") == "scalar") continue;
    const std::vector<std::int64_t> shape = shapeOf(row);
    if (is("LogSoftmaxBackward0.result")) c.vocabulary = shape.back();
    if (row.at("kind") == "layer_input") c.hidden = shape.back();
    if (is("ScaledDotProductFlashAttentionBackward0.query")) c.heads = shape[1], c.headDim = shape[3];
    if (is("ScaledDotProductFlashAttentionBackward0.key")) c.kvHeads = shape[1];
    if (is("SiluBackward0.self")) (c.experts > 0 ? c.expertIntermediate : c.intermediate) = shape.back();
    if (is("SoftmaxBackward0.result")) c.experts = shape.back(), c.moe = {true};
    if (is("TopkBackward0.indices")) c.expertsPerToken = shape.back();
  }
  return c;
}

ModelConfig recordedModel(const std::string& name) {
  if (auto described = describedModel(name)) return *described;
  const auto text = vsim::test::referenceText("pytorch/saved_activations.csv");
  return inferredModel(name, text ? vsim::test::parseCsv(*text) : std::vector<CsvRow>{});
}

struct Unit {
  std::vector<SavedTensor> saved;
  Bytes outputBytes = 0;
  bool headed = false;  // final norm, head and loss in one list: the head's input is inside
};

WorkShape workOf(const CsvRow& row) {
  WorkShape work;
  work.microBatch = std::stoll(row.at("batch"));
  work.sequence = std::stoll(row.at("seq"));
  work.fusedNorm = row.at("norm") == "fused";
  work.loss = LossKernel::eager;
  if (row.at("unit") == "layer_ac-full") work.checkpointing = Checkpointing::full;
  return work;
}

Unit unitOf(const CsvRow& row) {
  const ModelConfig config = recordedModel(row.at("model"));
  const WorkShape work = workOf(row);
  const auto costs = [&](ModuleKind kind) {
    auto result = moduleCosts(config, kind, 0, work);
    REQUIRE(result.has_value());
    return std::move(*result);
  };
  const std::string& unit = row.at("unit");
  if (unit == "embedding") {
    ModuleCosts c = costs(ModuleKind::embedding);
    return {std::move(c.saved), c.outputBytes};
  }
  if (unit == "norm_head_loss") {
    ModuleCosts norm = costs(ModuleKind::finalNorm), head = costs(ModuleKind::head);
    Unit both{std::move(norm.saved), head.outputBytes, true};
    for (SavedTensor& tensor : head.saved) {
      if (tensor.name == "input") {
        tensor.name = "final_norm.output";
        tensor.layerInput = false;
      }
      both.saved.push_back(std::move(tensor));
    }
    return both;
  }
  REQUIRE(unit.starts_with("layer_ac-"));
  ModuleCosts c = costs(ModuleKind::layer);
  return {std::move(c.saved), c.outputBytes};
}

std::string shapeText(const SavedTensor& tensor) {
  std::string text;
  for (const std::int64_t d : tensor.shape) text += (text.empty() ? "" : "x") + std::to_string(d);
  return text.empty() ? "scalar" : text;
}

std::string dtypeText(const std::string& recorded) {
  if (recorded == "bfloat16") return "bf16";
  if (recorded == "float32") return "fp32";
  if (recorded == "uint64") return "int64";  // the random state: 64 bits, unsigned
  return recorded;
}

/// Number of the storage of tensor `index`, counted by first use.
std::size_t storageOf(const std::vector<SavedTensor>& list, std::size_t index) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i <= index; ++i)
    if (std::find(names.begin(), names.end(), list[i].name) == names.end()) names.push_back(list[i].name);
  const auto at = std::find(names.begin(), names.end(), list[index].name);
  return static_cast<std::size_t>(at - names.begin());
}

std::string kindOf(const SavedTensor& tensor) {
  if (tensor.parameterOrConstant) return tensor.name.starts_with("rotary.") ? "constant" : "parameter";
  if (!tensor.layerInput) return "activation";
  return tensor.name == "tokens" || tensor.name == "labels" ? "input" : "layer_input";
}

std::string keyOf(const CsvRow& row) {
  std::string key;
  for (const char* column : {"model", "norm", "unit", "batch", "seq"}) key += row.at(column) + " ";
  return key;
}

bool owned(const SavedTensor& t) { return t.newStorage && !t.layerInput && !t.parameterOrConstant; }

}  // namespace

TEST_CASE("Every saved tensor equals the recorded one") {
  const auto text = vsim::test::referenceText("pytorch/saved_activations.csv");
  if (!text) return;
  const std::vector<CsvRow> rows = vsim::test::parseCsv(*text);
  REQUIRE_FALSE(rows.empty());
  std::string key;
  Unit unit;
  std::size_t position = 0, units = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const CsvRow& row = rows[r];
    if (keyOf(row) != key) {
      key = keyOf(row);
      unit = unitOf(row);
      position = 0;
      ++units;
    }
    INFO(key << "tensor " << row.at("index") << " " << row.at("node") << "." << row.at("saved_as"));
    REQUIRE(position < unit.saved.size());
    const SavedTensor& tensor = unit.saved[position];
    INFO("ours: " << tensor.name);
    CHECK(shapeText(tensor) == row.at("shape"));
    CHECK(name(tensor.dtype) == dtypeText(row.at("dtype")));
    CHECK(std::to_string(tensor.bytes()) == row.at("tensor_bytes"));
    CHECK(std::to_string(storageOf(unit.saved, position)) == row.at("storage"));
    CHECK(tensor.newStorage == (row.at("first_of_storage") == "1"));
    CHECK(kindOf(tensor) == row.at("kind"));
    if (tensor.newStorage) {
      CHECK(std::to_string(tensor.bytes()) == row.at("storage_bytes"));
    }
    ++position;
    const bool last = r + 1 == rows.size() || keyOf(rows[r + 1]) != key;
    if (last) {
      CHECK(position == unit.saved.size());
    }
  }
  CHECK(units > 0);
}

TEST_CASE("Dimensions read off recorded shapes are the described ones") {
  const auto text = vsim::test::referenceText("pytorch/saved_activations.csv");
  if (!text) return;
  const std::vector<CsvRow> rows = vsim::test::parseCsv(*text);
  for (const CsvRow& row : rows) {
    const auto described = describedModel(row.at("model"));
    if (!described || row.at("index") != "0" || row.at("unit") != "layer_ac-none") continue;
    const ModelConfig inferred = inferredModel(row.at("model"), rows);
    INFO(row.at("model"));
    CHECK(inferred.hidden == described->hidden);
    CHECK(inferred.heads == described->heads);
    CHECK(inferred.kvHeads == described->kvHeads);
    CHECK(inferred.headDim == described->headDim);
    CHECK(inferred.intermediate == described->intermediate);
    CHECK(inferred.vocabulary == described->vocabulary);
    CHECK(inferred.experts == described->experts);
    CHECK(inferred.expertsPerToken == described->expertsPerToken);
    CHECK(inferred.expertIntermediate == described->expertIntermediate);
  }
}

TEST_CASE("Sums of saved tensors equal the recorded ones") {
  const auto text = vsim::test::referenceText("pytorch/saved_activations_summary.csv");
  if (!text) return;
  const std::vector<CsvRow> rows = vsim::test::parseCsv(*text);
  REQUIRE_FALSE(rows.empty());
  for (const CsvRow& row : rows) {
    INFO(keyOf(row));
    const Unit unit = unitOf(row);
    Bytes all = 0, activations = 0, rounded = 0, input = 0, parameters = 0, constants = 0;
    std::int64_t storages = 0;
    for (const SavedTensor& t : unit.saved) {
      all += t.bytes();
      if (!t.newStorage) continue;
      ++storages;
      const std::string kind = kindOf(t);
      if (owned(t)) activations += t.bytes(), rounded += roundUp(t.bytes(), 512);
      if (kind == "layer_input") input += t.bytes();
      if (kind == "parameter") parameters += t.bytes();
      if (kind == "constant" || kind == "input") constants += t.bytes();
    }
    const auto column = [&](const char* name) { return std::stoll(row.at(name)); };
    CHECK(static_cast<std::int64_t>(unit.saved.size()) == column("saved_tensors"));
    CHECK(storages == column("unique_storages"));
    CHECK(all == column("sum_of_saved_tensor_bytes"));
    CHECK(activations == column("activation_storage_bytes"));
    CHECK(rounded == column("activation_storage_512_bytes"));
    CHECK(parameters == column("parameter_storage_bytes"));
    CHECK(constants == column("constant_storage_bytes"));
    CHECK(unit.outputBytes == column("layer_output_bytes"));
    // Written-out norms keep a copy of their input instead of the input itself: nobody keeps it then.
    const bool keeps = input > 0;
    if (keeps) {
      CHECK(input == column("layer_input_bytes"));
    }
    if (!row.at("held_per_layer_bytes").empty())
      CHECK(activations + (keeps ? unit.outputBytes : 0) == column("held_per_layer_bytes"));
  }
}
