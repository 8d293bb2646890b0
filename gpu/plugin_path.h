#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace vsim::gpu {

/// Where a plug-in of this name ("libvsim_cuda.so") may lie, best first: the folders of VSIM_PLUGIN_PATH
/// (separated by ':'), the folder of the running program, and ../lib beside it.
[[nodiscard]] std::vector<std::filesystem::path> pluginCandidates(const std::string& fileName);

/// The first candidate that exists. Errors: none does; the message lists where was looked.
[[nodiscard]] core::Result<std::filesystem::path> findPlugin(const std::string& fileName);

}  // namespace vsim::gpu
