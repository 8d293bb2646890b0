#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/model/hf_config.h"
#include "core/scenario/document.h"
#include "core/scenario/reader.h"
#include "core/scenario/section.h"

namespace vsim::core {

/// Models already read, by "preset NAME" or file: the points of a sweep mostly share one.
using ModelCache = std::map<std::string, ResultAll<HfConfig>>;

/// What the readers of the sections share.
struct ReadContext {
  Problems& problems;
  const ReadOptions& options;
  std::string path;  // of the scenario file
  ModelCache& models;
};

inline constexpr std::int64_t kMaxGpus = std::int64_t{1} << 24;
inline constexpr std::int64_t kMaxTokens = std::int64_t{1} << 60;

/// `model:`. False when it is missing or wrong: what depends on it is then not checked.
bool readModel(ReadContext& context, Section& top, Scenario& scenario);
/// A model given by its sizes (hidden, layers, heads ...).
bool readExplicitModel(Section& section, ModelConfig& config);
enum class ModelState : std::uint8_t { known, unknown };
/// `cluster:`, `parallel:` and `batch:`, and what must agree between them and the model when it is known.
void readSizes(ReadContext& context, Section& top, ModelState model, Scenario& scenario);
void readSystems(ReadContext& context, Section& top, Scenario& scenario);
void readPrecision(ReadContext& context, Section& top, Scenario& scenario);
/// `optimizer:` and `granularity:`; the optimizer's block is the last granularity rule.
void readOptimizer(ReadContext& context, Section& top, Scenario& scenario);
/// The file that the scenario names at `path` ("profile"), found as findBeside() does, or, typed on the
/// command line, from the current folder. "" when it is not there, which is reported.
std::string fileNamedAt(ReadContext& context, const Node& node, const std::string& path);
/// `software:`, `activation_checkpointing:`, `simulate:`, `real:`, `profile:`.
void readExecution(ReadContext& context, Section& top, Scenario& scenario);

}  // namespace vsim::core
