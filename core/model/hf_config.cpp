#include "core/model/hf_config.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>

#include "core/model/config_fields.h"
#include "core/model/hf_architectures.h"
#include "core/model/json_document.h"
#include "core/model/layer_tensors.h"

namespace vsim::core {
namespace {

// Real configs have a few kilobytes; a list per layer makes some a hundred.
constexpr std::size_t kMaxFileBytes = 4u << 20;
// Above any model within reach for decades; far from where sums of elements overflow.
constexpr double kMaxParameters = 1e17;
constexpr double kMaxTensors = 2e7;

const HfArchitecture* findArchitecture(const std::string& modelType) {
  for (const auto& table : {denseArchitectures(), classicArchitectures(), moeArchitectures()})
    for (const HfArchitecture& architecture : table)
      if (modelType == architecture.modelType) return &architecture;
  return nullptr;
}

std::string stemOf(const std::string& file) {
  std::filesystem::path path(file);
  if (path.extension() == ".gz") path = path.stem();
  if (path.stem() == "config" && path.has_parent_path()) return path.parent_path().filename().string();
  return path.stem().string();
}

std::string knownList() { return fmt::format("known: {}", fmt::join(knownModelTypes(), ", ")); }

/// The object that describes the text model: the whole config, or text_config of a multimodal one.
const JsonNode* textModel(const JsonNode& root) {
  const JsonMember* nested = root.find("text_config");
  const bool isText = nested && nested->value.kind == JsonNode::Kind::object;
  const JsonMember* type = root.find("model_type");
  const bool known = type && findArchitecture(type->value.text) != nullptr;
  return isText && !known ? &nested->value : &root;
}

void readDtype(ConfigFields& fields, ModelConfig& config) {
  const std::string name = fields.textOr({"torch_dtype", "dtype"}, "bfloat16");
  if (const auto dtype = dtypeFromName(name))
    config.dtype = *dtype;
  else
    fields.error("torch_dtype", fmt::format("unknown dtype \"{}\"", name),
                 "known: bfloat16, float16, float32");
}

/// Sizes that are possible one by one can still be absurd together.
void checkTotals(ConfigFields& fields, const ModelConfig& config) {
  double parameters = 0.0, tensors = 0.0;
  const auto count = [&](const std::vector<TensorSpec>& list) {
    for (const TensorSpec& tensor : list) {
      double elements = 1.0;
      for (const std::int64_t size : tensor.shape) elements *= static_cast<double>(size);
      parameters += elements;
    }
    tensors += static_cast<double>(list.size());
  };
  const double perLayer =
      static_cast<double>(config.layers) * (3.0 * static_cast<double>(config.experts) + 16.0);
  if (perLayer > kMaxTensors) {
    fields.error("num_hidden_layers",
                 fmt::format("{} layers of {} experts would be {:.1e} tensors", config.layers, config.experts,
                             perLayer),
                 fmt::format("at most {:.0e}", kMaxTensors));
    return;
  }
  count(embeddingTensors(config));
  count(headTensors(config));
  const double outside = parameters;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    if (layer > 0 && sameLayerKind(config, layer, layer - 1)) continue;
    parameters = 0.0;
    count(layerTensors(config, layer));
    // An upper bound: as if all layers were like this one.
    const double bound = outside + parameters * static_cast<double>(config.layers);
    if (bound > kMaxParameters) {
      fields.error("hidden_size", fmt::format("sizes make a model of up to {:.1e} parameters", bound),
                   fmt::format("at most {:.0e}", kMaxParameters));
      return;
    }
  }
}

Error refused(const std::string& file, std::string message, std::string hint = {}) {
  return {.message = std::move(message), .file = file, .hint = std::move(hint)};
}

tl::unexpected<Errors> unknownModelType(const JsonNode& model, const std::string& file) {
  const JsonMember* type = model.find("model_type");
  Error error{.message = {}, .file = file, .line = model.line, .column = model.column, .hint = knownList()};
  if (!type) {
    error.message = "field \"model_type\" is missing";
  } else {
    error.line = type->value.line;
    error.column = type->value.column;
    if (type->value.kind != JsonNode::Kind::string) {
      error.message = fmt::format("\"model_type\" must be text, not {}", describe(type->value.kind));
    } else {
      error.message = fmt::format("unknown model_type \"{}\"", type->value.text.substr(0, 80));
      const std::string near = nearest(type->value.text, knownModelTypes());
      if (!near.empty()) error.hint = fmt::format("did you mean \"{}\"? {}", near, error.hint);
    }
  }
  return tl::unexpected(Errors{error});
}

}  // namespace

std::vector<std::string> knownModelTypes() {
  std::vector<std::string> names;
  for (const auto& table : {denseArchitectures(), classicArchitectures(), moeArchitectures()})
    for (const HfArchitecture& architecture : table) names.emplace_back(architecture.modelType);
  std::sort(names.begin(), names.end());
  return names;
}

ResultAll<HfConfig> parseHfConfig(std::string_view json, const std::string& file) {
  if (json.size() > kMaxFileBytes)
    return tl::unexpected(
        Errors{refused(file, fmt::format("{} bytes are too many for a config.json", json.size()),
                       fmt::format("at most {}", kMaxFileBytes))});
  if (json.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return tl::unexpected(
        Errors{refused(file, "the file is empty", "a Hugging Face config.json is expected")});
  const auto root = parseJson(json, file);
  if (!root) return tl::unexpected(root.error());
  if (root->kind != JsonNode::Kind::object)
    return tl::unexpected(Errors{{.message = fmt::format("must be an object, not {}", describe(root->kind)),
                                  .file = file,
                                  .line = root->line,
                                  .column = root->column}});
  const JsonNode* model = textModel(*root);
  const JsonMember* type = model->find("model_type");
  const HfArchitecture* architecture =
      type && type->value.kind == JsonNode::Kind::string ? findArchitecture(type->value.text) : nullptr;
  if (!architecture) return unknownModelType(type ? *model : *root, file);

  HfConfig result;
  ModelConfig& config = result.config;
  config.name = stemOf(file);
  ConfigFields fields(*model, file);
  config.modelType = fields.textOr({"model_type"}, "");
  readDtype(fields, config);
  architecture->read(fields, config);
  if (fields.sound()) checkTotals(fields, config);
  if (model != &*root)
    for (const JsonMember& member : root->members)
      if (member.key != "text_config") result.ignored.push_back(member.key);
  for (std::string& name : fields.finish()) result.ignored.push_back(std::move(name));
  if (!fields.errors().empty()) {
    Errors errors = fields.errors();
    std::stable_sort(errors.begin(), errors.end(), [](const Error& a, const Error& b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    return tl::unexpected(std::move(errors));
  }
  return result;
}

ResultAll<HfConfig> readHfConfig(const std::string& path) {
  std::error_code status;
  if (!std::filesystem::exists(path, status)) return tl::unexpected(Errors{refused(path, "no such file")});
  if (!std::filesystem::is_regular_file(path, status))
    return tl::unexpected(Errors{refused(path, "is not a file", "give the path of a config.json")});
  // gzread hands plain files through unchanged.
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) return tl::unexpected(Errors{refused(path, "cannot be read")});
  std::string text(kMaxFileBytes + 1, '\0');
  const int got = gzread(file, text.data(), static_cast<unsigned>(text.size()));
  const bool complete = gzclose(file) == Z_OK;
  if (got < 0 || (!complete && got <= static_cast<int>(kMaxFileBytes)))
    return tl::unexpected(Errors{refused(path, "cannot be read: broken or truncated gzip data")});
  if (got > static_cast<int>(kMaxFileBytes))
    return tl::unexpected(
        Errors{refused(path, fmt::format("more than {} bytes: not a config.json", kMaxFileBytes))});
  text.resize(static_cast<std::size_t>(got));
  return parseHfConfig(text, path);
}

}  // namespace vsim::core
