// The plug-in as it was built: it loads, and where there is no driver it says so.

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "gpu/device/api.h"
#include "tests/folders.h"

using namespace vsim::gpu::device;

TEST_CASE("cuda plug-in: loads, and without a driver every call says what is missing") {
  const std::string file = std::string(VSIM_BINARY_DIR) + "/cli/libvsim_cuda.so";
  if (!std::filesystem::exists(file)) {
    std::puts("SKIPPED: the CUDA plug-in was not built");
    return;
  }
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* const error = library == nullptr ? dlerror() : "";
  INFO(error);
  REQUIRE(library != nullptr);
  const auto version = reinterpret_cast<VersionFunction>(dlsym(library, kVersionSymbol));
  const auto make = reinterpret_cast<MakeFunction>(dlsym(library, kMakeSymbol));
  REQUIRE(version != nullptr);
  REQUIRE(make != nullptr);
  CHECK(version() == kApiVersion);
  const std::unique_ptr<Api> api(make());
  REQUIRE(api != nullptr);
  CHECK(api->name() == "cuda");
  int devices = -1;
  const Status status = api->deviceCount(devices);
  if (status.ok() && devices > 0) {
    std::puts("SKIPPED: this machine has a GPU");
    return;
  }
  CHECK(devices == 0);
  INFO(status.text);
  REQUIRE_FALSE(status.ok());
  CHECK(status.code != kOutOfMemory);
  CHECK(status.text.find("cudaGetDeviceCount: ") == 0);
  CHECK((status.text.find("no NVIDIA driver found") != std::string::npos ||
         status.text.find("no CUDA-capable device") != std::string::npos));
  // Nothing crashes that is called all the same.
  void* memory = nullptr;
  CHECK_FALSE(api->allocate(memory, 1024).ok());
  CHECK(memory == nullptr);
  CHECK_FALSE(api->useDevice(0).ok());
  CHECK_FALSE(api->empty(nullptr).ok());
  CHECK_FALSE(api->gemm({.m = 1, .n = 1, .k = 1}, nullptr).ok());
  Stream stream = nullptr;
  CHECK_FALSE(api->createStream(stream, true).ok());
  CHECK_FALSE(api->groupEnd().ok());
}
