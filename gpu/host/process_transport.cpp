#include "gpu/host/process_transport.h"

#include <dlfcn.h>

#include "gpu/plugin_path.h"

namespace vsim::gpu {

namespace {

constexpr const char* kWithoutMpi =
    "vsim is built with MPI where CMake finds it (Debian: libopenmpi-dev); without it ranks run as threads "
    "of "
    "one process";

template <class Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

core::Result<std::unique_ptr<ProcessTransport>> loadMpiTransport() {
  const auto path = findPlugin(kMpiPlugin);
  if (!path)
    return core::fail("ranks as processes need MPI: " + path.error().message,
                      path.error().hint + "; " + kWithoutMpi);
  // Global: Open MPI loads parts of its own that expect to find it so.
  void* const library = dlopen(path->c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return core::fail(fmt::format("cannot load {}: {}", path->string(), dlerror()));
  const auto version = symbol<TransportVersionFunction>(library, kTransportVersionSymbol);
  const auto make = symbol<MakeTransportFunction>(library, kMakeTransportSymbol);
  if (version == nullptr || make == nullptr) return core::fail(path->string() + " is not a plug-in of vsim");
  if (version() != kTransportVersion)
    return core::fail(fmt::format("{} has version {} of the interface, this vsim {}", path->string(),
                                  version(), kTransportVersion),
                      "build vsim and its plug-ins together");
  return std::unique_ptr<ProcessTransport>(make());
}

}  // namespace vsim::gpu
