// Plug-ins that cannot be used are refused with what is missing and what can be run instead.

#include "gpu/device/plugin.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "gpu/device/nics.h"
#include "gpu/plugin_path.h"

using namespace vsim;
using Catch::Matchers::Contains;
using gpu::device::loadPlugin;

namespace {

namespace fs = std::filesystem;

std::string pluginNamed(const std::string& name) {
  return std::string(VSIM_TEST_PLUGINS) + "/lib" + name + ".so";
}

core::Error refusal(const std::string& path) {
  const auto api = loadPlugin(path);
  REQUIRE(!api);
  CHECK_THAT(api.error().hint, Contains("--executor host"));
  return api.error();
}

/// An environment variable for the time of a scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_.empty() ? ::unsetenv(name_) : ::setenv(name_, before_.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string before_;
};

class Folder {
 public:
  Folder() {
    char path[] = "/tmp/vsim-plugin-XXXXXX";
    if (::mkdtemp(path) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = path;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] fs::path operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::string text() const { return path_.string(); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("plug-in: a file that is not there, or no library") {
  CHECK_THAT(refusal("/nowhere/libvsim_cuda.so").message,
             Contains("/nowhere/libvsim_cuda.so") && Contains("No such file"));
  const Folder folder;
  folder.write("libvsim_cuda.so", "no library");
  CHECK_THAT(refusal((folder / "libvsim_cuda.so").string()).message, Contains("cannot be loaded"));
}

TEST_CASE("plug-in: libraries of something else, of another version, or broken") {
  CHECK_THAT(refusal(pluginNamed("vsim_test_no_plugin")).message,
             Contains("no device plug-in of vsim") && Contains(gpu::device::kVersionSymbol));
  CHECK_THAT(refusal(pluginNamed("vsim_test_other_version")).message,
             Contains("version 999") && Contains(fmt::format("this vsim's {}", gpu::device::kApiVersion)));
  CHECK_THAT(refusal(pluginNamed("vsim_test_makes_nothing")).message, Contains("makes no interface"));
}

TEST_CASE("plug-in: a library that it needs is named") {
  CHECK_THAT(refusal(pluginNamed("vsim_test_needs_absent")).message,
             Contains("needs libvsim_test_absent.so, which is not on this machine"));
}

TEST_CASE("plug-in: found where VSIM_PLUGIN_PATH says, else beside the program") {
  const Folder folder, other;
  const Variable path("VSIM_PLUGIN_PATH", folder.text() + "::" + other.text());
  const auto candidates = gpu::pluginCandidates("libvsim_cuda.so");
  REQUIRE(candidates.size() == 4);
  CHECK(candidates[0] == folder / "libvsim_cuda.so");
  CHECK(candidates[1] == other / "libvsim_cuda.so");
  CHECK(candidates[2] == fs::read_symlink("/proc/self/exe").parent_path() / "libvsim_cuda.so");
  CHECK(candidates[3].parent_path().filename() == "lib");
  if (!fs::exists(candidates[2]) && !fs::exists(candidates[3]))
    CHECK_THAT(refusal("").message, Contains("no CUDA plug-in") && Contains(other.text()));
  other.write("libvsim_cuda.so", "no library");
  const auto found = gpu::findPlugin("libvsim_cuda.so");
  REQUIRE(found);
  CHECK(*found == candidates[1]);
  CHECK_THAT(refusal("").message, Contains("cannot be loaded") && Contains(other.text()));
}

#ifdef VSIM_CUDA_PLUGIN
TEST_CASE("plug-in: the CUDA plug-in loads, or says what is missing; without a device so does the machine") {
  const auto api = loadPlugin(VSIM_CUDA_PLUGIN);
  if (!api) {
    CHECK_THAT(api.error().message, Contains("needs lib"));
    CHECK_THAT(api.error().hint, Contains("--executor host"));
    return;
  }
  CHECK((*api)->name() == "cuda");
  const auto devices = gpu::device::usableDevices(**api);
  if (devices) {
    CHECK(*devices > 0);
  } else {
    CHECK_THAT(devices.error().message, Contains("cuda d"));
    CHECK_THAT(devices.error().hint, Contains("--executor host"));
  }
}
#endif

TEST_CASE("network cards: rates of InfiniBand ports, Ethernet devices that are other cards") {
  const Folder root;
  const auto link = [&](const std::string& device, const std::string& card) {
    fs::create_directories(root / card);
    fs::create_directories(root / device);
    fs::create_directory_symlink(root / card, root / (device + "/device"));
  };
  link("sys/class/infiniband/mlx5_0", "cards/0");
  root.write("sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
  root.write("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  root.write("sys/class/infiniband/mlx5_0/ports/2/rate", "10 Gb/sec (4X SDR)\n");
  root.write("sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN\n");
  link("sys/class/net/ib0", "cards/0");  // the same card
  link("sys/class/net/eth0", "cards/1");
  root.write("sys/class/net/eth0/speed", "100000\n");
  link("sys/class/net/eth1", "cards/2");
  root.write("sys/class/net/eth1/speed", "-1\n");  // no link
  root.write("sys/class/net/lo/speed", "0\n");     // no hardware
  const auto nics = gpu::device::findNics(root.text());
  REQUIRE(nics.size() == 3);
  CHECK(nics[0].name == "mlx5_0");
  CHECK(nics[0].bytesPerSecond == 50e9);
  CHECK(nics[1].name == "eth0");
  CHECK(nics[1].bytesPerSecond == 12.5e9);
  CHECK(nics[2].name == "eth1");
  CHECK(nics[2].bytesPerSecond == 0);
  CHECK(gpu::device::findNics("/nowhere").empty());
}
