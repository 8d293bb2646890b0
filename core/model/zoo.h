#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/model/config.h"

namespace vsim::core {

/// Names of all presets, sorted; aliases are not listed.
std::vector<std::string> presetNames();
/// A preset by name or alias ("llama3-8b" is "llama-3-8b"). Unknown names fail with the nearest one as hint.
Result<ModelConfig> preset(const std::string& name);

}  // namespace vsim::core
