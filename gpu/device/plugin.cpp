#include "gpu/device/plugin.h"

#include <dlfcn.h>

#include "gpu/plugin_path.h"

namespace vsim::gpu::device {
namespace {

constexpr const char* kInstead = "--executor host runs the same program on this machine's processor cores";

tl::unexpected<core::Error> missing(const std::string& what) { return core::fail(what, kInstead); }

std::string loaderError() {
  const char* text = dlerror();
  return text == nullptr ? "unknown reason" : text;
}

/// "libnccl.so.2" of "libnccl.so.2: cannot open shared object file: No such file or directory".
std::string missingLibrary(const std::string& error, const std::string& path) {
  const std::size_t at = error.find(": cannot open shared object file");
  if (at == std::string::npos || error.compare(0, at, path) == 0) return {};
  return error.substr(0, at);
}

}  // namespace

core::Result<std::shared_ptr<Api>> loadPlugin(const std::string& path) {
  std::string file = path;
  if (file.empty()) {
    const auto found = findPlugin(kCudaPlugin);
    if (!found)
      return missing("this vsim has no CUDA plug-in: " + found.error().message +
                     " (it is built with -DVSIM_CUDA=ON where the CUDA toolkit is)");
    file = found->string();
  }
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const std::string reason = loaderError(), needed = missingLibrary(reason, file);
    if (!needed.empty())
      return missing(fmt::format("the CUDA plug-in {} needs {}, which is not on this machine", file, needed));
    return missing(fmt::format("the CUDA plug-in {} cannot be loaded: {}", file, reason));
  }
  const auto version = reinterpret_cast<VersionFunction>(dlsym(library, kVersionSymbol));
  const auto make = reinterpret_cast<MakeFunction>(dlsym(library, kMakeSymbol));
  if (version == nullptr || make == nullptr)
    return missing(fmt::format("{} is no device plug-in of vsim: it has no {}", file,
                               version == nullptr ? kVersionSymbol : kMakeSymbol));
  if (version() != kApiVersion)
    return missing(fmt::format("{} is of another vsim: its interface has version {}, this vsim's {}", file,
                               version(), kApiVersion));
  std::shared_ptr<Api> api(make());  // shared: machines keep it as long as they need it
  if (!api) return missing(fmt::format("{} is broken: it makes no interface", file));
  return api;
}

core::Result<int> usableDevices(Api& api) {
  int count = 0;
  if (const Status status = api.deviceCount(count); !status.ok())
    return missing(fmt::format("no usable {} driver or device: {}", api.name(), status.text));
  if (count < 1) return missing(fmt::format("this machine has no {} device", api.name()));
  return count;
}

}  // namespace vsim::gpu::device
