#include "gpu/cuda/nvml.h"

#include <dlfcn.h>

#include <array>
#include <type_traits>

namespace vsim::gpu::cuda {
namespace {

// Declarations of the library's documented C interface; its header is not part of every toolkit.
using NvmlDevice = struct NvmlDeviceOpaque*;
constexpr int kSuccess = 0;
constexpr int kEnabled = 1;
constexpr int kSmClock = 1, kMemoryClock = 2, kGpuTemperature = 0;
constexpr unsigned int kMostLinks = 18;  // NVML_NVLINK_MAX_LINKS

struct Library {
  int (*init)() = nullptr;
  int (*driverVersion)(char*, unsigned int) = nullptr;
  int (*deviceByAddress)(const char*, NvmlDevice*) = nullptr;
  int (*linkState)(NvmlDevice, unsigned int, int*) = nullptr;
  int (*clock)(NvmlDevice, int, unsigned int*) = nullptr;
  int (*throttling)(NvmlDevice, unsigned long long*) = nullptr;
  int (*power)(NvmlDevice, unsigned int*) = nullptr;
  int (*temperature)(NvmlDevice, int, unsigned int*) = nullptr;
  bool usable = false;

  Library() {
    void* const file = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr) return;
    const auto find = [file](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(file, name));
    };
    find(init, "nvmlInit_v2");
    find(driverVersion, "nvmlSystemGetDriverVersion");
    find(deviceByAddress, "nvmlDeviceGetHandleByPciBusId_v2");
    find(linkState, "nvmlDeviceGetNvLinkState");
    find(clock, "nvmlDeviceGetClockInfo");
    find(throttling, "nvmlDeviceGetCurrentClocksEventReasons");
    if (throttling == nullptr) find(throttling, "nvmlDeviceGetCurrentClocksThrottleReasons");  // before 535
    find(power, "nvmlDeviceGetPowerUsage");
    find(temperature, "nvmlDeviceGetTemperature");
    usable = init != nullptr && init() == kSuccess;
  }
};

/// Loaded once, kept to the end of the process.
const Library& library() {
  static const Library loaded;
  return loaded;
}

NvmlDevice deviceAt(const std::string& pciAddress) {
  const Library& nvml = library();
  NvmlDevice device = nullptr;
  if (!nvml.usable || nvml.deviceByAddress == nullptr) return nullptr;
  return nvml.deviceByAddress(pciAddress.c_str(), &device) == kSuccess ? device : nullptr;
}

double hertzOf(NvmlDevice device, int kind) {
  unsigned int megahertz = 0;
  if (library().clock == nullptr || library().clock(device, kind, &megahertz) != kSuccess) return 0;
  return megahertz * 1e6;
}

}  // namespace

std::string throttleReasons(unsigned long long bits) {
  struct Reason {
    unsigned long long bit;
    const char* name;
  };
  constexpr std::array<Reason, 8> kReasons{{{0x2, "application clocks"},
                                            {0x4, "power cap"},
                                            {0x8, "hardware slowdown"},
                                            {0x10, "sync boost"},
                                            {0x20, "thermal slowdown"},
                                            {0x40, "hardware thermal slowdown"},
                                            {0x80, "power brake"},
                                            {0x100, "display clocks"}}};
  std::string text;
  for (const Reason& reason : kReasons)
    if ((bits & reason.bit) != 0) text += (text.empty() ? "" : ", ") + std::string(reason.name);
  return text;
}

namespace nvml {

std::string driverVersion() {
  std::array<char, 96> text{};
  const Library& nvml = library();
  if (!nvml.usable || nvml.driverVersion == nullptr ||
      nvml.driverVersion(text.data(), static_cast<unsigned int>(text.size())) != kSuccess)
    return {};
  text.back() = '\0';
  return text.data();
}

int activeLinks(const std::string& pciAddress) {
  const NvmlDevice device = deviceAt(pciAddress);
  if (device == nullptr || library().linkState == nullptr) return 0;
  int links = 0;
  for (unsigned int link = 0; link < kMostLinks; ++link) {
    int state = 0;
    if (library().linkState(device, link, &state) == kSuccess && state == kEnabled) ++links;
  }
  return links;
}

bool clocks(const std::string& pciAddress, device::ClockFacts& out) {
  const NvmlDevice device = deviceAt(pciAddress);
  if (device == nullptr) return false;
  const Library& nvml = library();
  out.smHertz = hertzOf(device, kSmClock);
  out.memoryHertz = hertzOf(device, kMemoryClock);
  unsigned int milliwatts = 0, celsius = 0;
  unsigned long long reasons = 0;
  if (nvml.power != nullptr && nvml.power(device, &milliwatts) == kSuccess)
    out.powerWatts = milliwatts * 1e-3;
  if (nvml.temperature != nullptr && nvml.temperature(device, kGpuTemperature, &celsius) == kSuccess)
    out.celsius = celsius;
  if (nvml.throttling != nullptr && nvml.throttling(device, &reasons) == kSuccess)
    out.throttled = throttleReasons(reasons);
  return true;
}

}  // namespace nvml
}  // namespace vsim::gpu::cuda
