#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/model/config.h"

namespace vsim::core {

struct HfConfig {
  ModelConfig config;
  std::vector<std::string> ignored;  // fields that vsim does not use, in file order
};

/// Reads a Hugging Face config.json (plain or .gz). Errors carry file:line:column: unknown model_type (with
/// the list of known ones), missing or impossible fields, malformed or truncated JSON; all at once.
ResultAll<HfConfig> readHfConfig(const std::string& path);
/// The same from text; `file` is only used in messages.
ResultAll<HfConfig> parseHfConfig(std::string_view json, const std::string& file);
/// Known values of model_type, sorted.
std::vector<std::string> knownModelTypes();

}  // namespace vsim::core
