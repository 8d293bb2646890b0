// vsim-device-conformance: every system's programs on the devices of a plug-in.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "gpu/device/plugin.h"
#include "tests/gpu/device/program/conformance.h"

namespace {

using namespace vsim;

struct Options {
  std::string plugin, json;
  int devices = 0;
  double timeout = 60;
};

int fail(const std::string& text) {
  fmt::print(stderr, "vsim-device-conformance: {}\n", text);
  return 1;
}

void printRow(const test::ConformanceRow& row) {
  fmt::print("{:<6} {:<8} {:<66} {} rank{} {:6.2f} s  {}\n", row.problems.empty() ? "ok" : "FAILED",
             row.system, row.name, row.ranks, row.ranks == 1 ? " " : "s", row.seconds,
             row.exact ? "exact" : "rounded");
  for (const std::string& problem : row.problems) fmt::print("         {}\n", problem);
  std::fflush(stdout);
}

int run(const Options& options) {
  const auto api = gpu::device::loadPlugin(options.plugin);
  if (!api) return fail(api.error().text());
  const auto devices = gpu::device::usableDevices(**api);
  if (!devices) return fail(devices.error().text());
  if (options.devices > *devices)
    return fail(fmt::format("--devices {}, but the plug-in has {}", options.devices, *devices));
  test::ConformanceOptions conformance;
  conformance.devices = options.devices > 0 ? options.devices : *devices;
  conformance.timeout = static_cast<int>(options.timeout * 1000);
  conformance.progress = printRow;
  const auto rows = test::checkConformance(*api, conformance);
  if (!options.json.empty() && !(std::ofstream(options.json) << test::conformanceJson(rows) << "\n"))
    return fail("cannot write " + options.json);
  int failed = 0;
  for (const test::ConformanceRow& row : rows) failed += row.problems.empty() ? 0 : 1;
  fmt::print("{} programs on {} device{}: {} failed\n", rows.size(), conformance.devices,
             conformance.devices == 1 ? "" : "s", failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Runs every system's programs on a plug-in's devices and checks order, memory and data.",
               "vsim-device-conformance");
  app.add_option("plugin", options.plugin, "the plug-in; default: libvsim_cuda.so beside the program");
  app.add_option("--json", options.json, "writes the results to this file");
  app.add_option("--devices", options.devices, "uses so many; default: all")->check(CLI::Range(1, 1024));
  app.add_option("--timeout", options.timeout, "seconds without progress")->check(CLI::Range(1.0, 1e6));
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const std::exception& error) {  // out of host memory, say: the reason, not a crash
    return fail(error.what());
  }
}
