#pragma once

#include <memory>
#include <string>

#include "core/base/error.h"
#include "gpu/device/api.h"

namespace vsim::gpu::device {

inline constexpr const char* kCudaPlugin = "libvsim_cuda.so";

/// Loads a plug-in and makes its Api. `path` empty: libvsim_cuda.so where findPlugin (gpu/plugin_path.h)
/// finds it. The library stays loaded to the end of the process: the libraries below it cannot be unloaded.
/// Errors say which part is missing (plug-in, a library that it needs, one of the same version) and what can
/// be run instead.
[[nodiscard]] core::Result<std::shared_ptr<Api>> loadPlugin(const std::string& path = {});

/// Number of usable devices, at least 1. Errors: no driver, no device; with what can be run instead.
[[nodiscard]] core::Result<int> usableDevices(Api& api);

}  // namespace vsim::gpu::device
