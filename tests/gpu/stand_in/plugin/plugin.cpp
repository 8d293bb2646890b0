// The stand-in as vsim looks for a device plug-in, so that the programs run on it as they run on GPUs. By the
// environment: VSIM_STAND_IN_DEVICES (1), VSIM_STAND_IN_MEMORY (bytes of each), VSIM_STAND_IN_MAIL (a folder
// through which processes reach each other), VSIM_STAND_IN_FAULT (a call that fails), VSIM_STAND_IN_THROTTLED
// (what holds its clocks down).

#include <cstdio>
#include <cstdlib>

#include "tests/gpu/stand_in/stand_in.h"

#define VSIM_EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

/// Says what a device would have punished when the program ends.
class Told : public vsim::test::StandIn {
 public:
  using StandIn::StandIn;
  ~Told() override {
    for (const std::string& text : violations())
      std::fprintf(stderr, "STAND-IN VIOLATION: %s\n", text.c_str());
    for (const std::string& text : leaks()) std::fprintf(stderr, "STAND-IN LEFT BEHIND: %s\n", text.c_str());
  }
};

}  // namespace

VSIM_EXPORTED int vsimDeviceApiVersion() { return vsim::gpu::device::kApiVersion; }
VSIM_EXPORTED vsim::gpu::device::Api* vsimMakeDeviceApi() {
  vsim::test::StandInOptions options;
  options.devices = std::atoi(variable("VSIM_STAND_IN_DEVICES", "1").c_str());
  options.capacity = std::atoll(variable("VSIM_STAND_IN_MEMORY", "1073741824").c_str());
  options.deviceName = "NVIDIA H200";  // a board that vsim knows: a short calibration need not find its rates
  options.mailFolder = variable("VSIM_STAND_IN_MAIL", "");
  options.throttled = variable("VSIM_STAND_IN_THROTTLED", "");
  if (const std::string call = variable("VSIM_STAND_IN_FAULT", ""); !call.empty())
    options.faults.push_back({.kind = vsim::test::Fault::Kind::call, .call = call});
  return new Told(options);
}
