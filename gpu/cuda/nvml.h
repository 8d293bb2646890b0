#pragma once

#include <string>

#include "gpu/device/api.h"

namespace vsim::gpu::cuda {

/// What the driver's management library knows beyond the runtime. It is loaded when first asked, and
/// everything stays unknown (false, zero, empty) where it is not there: a machine can be used without it.
/// Thread-safe.
namespace nvml {

/// "580.65.06"; empty: not known.
[[nodiscard]] std::string driverVersion();
/// NVLinks of the device at this PCI address ("0000:1B:00.0") that are up.
[[nodiscard]] int activeLinks(const std::string& pciAddress);
/// Clocks, power and temperature of now; false: not known.
[[nodiscard]] bool clocks(const std::string& pciAddress, device::ClockFacts& out);

}  // namespace nvml

/// Names of the bits of NVML's clock event reasons that mean less than full speed; the idle state is none.
[[nodiscard]] std::string throttleReasons(unsigned long long bits);

}  // namespace vsim::gpu::cuda
