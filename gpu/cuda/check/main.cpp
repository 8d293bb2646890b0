// vsim-gpu-check: everything that a device plug-in does, against the host, with fresh random data.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "gpu/cuda/check/check_device.h"
#include "gpu/device/plugin.h"

namespace {

using namespace vsim::gpu;
struct Options {
  std::string plugin, json;
  unsigned int seed = 0;
  bool speed = true;
};

int run(const Options& options) {
  const auto api = device::loadPlugin(options.plugin);
  if (!api) {
    fmt::print(stderr, "vsim-gpu-check: {}\n", api.error().text());
    return 1;
  }
  const auto devices = device::usableDevices(**api);
  if (!devices) {
    fmt::print(stderr, "vsim-gpu-check: {}\n", devices.error().text());
    return 1;
  }
  cuda::CheckTable table;
  const nlohmann::json json = cuda::checkDevice(**api, options.seed, options.speed, table);
  if (!options.json.empty() && !(std::ofstream(options.json) << json.dump(1) << "\n")) {
    fmt::print(stderr, "vsim-gpu-check: cannot write {}\n", options.json);
    return 1;
  }
  using State = cuda::CheckRow::State;
  const int failed = table.count(State::failed);
  fmt::print("{} passed, {} failed, {} skipped, {} measured without a bar\n", table.count(State::passed),
             failed, table.count(State::skipped), table.count(State::information));
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options{.plugin = {}, .json = {}, .seed = std::random_device{}()};
  CLI::App app(
      "Checks a device plug-in of vsim against host references, with fresh random data, and measures it.",
      "vsim-gpu-check");
  bool noSpeed = false;
  app.add_option("--plugin", options.plugin, "the plug-in; default: libvsim_cuda.so beside the program");
  app.add_option("--json", options.json, "writes the results to this file");
  app.add_option("--seed", options.seed, "of the random data; default: a new one");
  app.add_flag("--no-speed", noSpeed, "data only, nothing is measured");
  CLI11_PARSE(app, argc, argv);
  options.speed = !noSpeed;
  try {
    return run(options);
  } catch (const std::exception& error) {  // out of host memory, say: the reason, not a crash
    fmt::print(stderr, "vsim-gpu-check: {}\n", error.what());
    return 1;
  }
}
