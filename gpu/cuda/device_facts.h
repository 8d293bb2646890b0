#pragma once

#include <string>

#include "gpu/device/api.h"

namespace vsim::gpu::cuda {

/// What the runtime, the driver's management library and the kernel know of a device.
[[nodiscard]] device::Status readDeviceFacts(int device, device::DeviceFacts& out);
/// "0000:1b:00.0"
[[nodiscard]] device::Status pciAddressOf(int device, std::string& out);
/// One direction of one NVLink, by the generation that goes with a compute capability; datasheets of V100 and
/// A100 (25 GB/s a link), H100 (900 GB/s both ways over 18 links) and B200 (1,800 GB/s both ways over 18).
[[nodiscard]] constexpr double nvlinkBytesPerSecond(int computeCapability) {
  return computeCapability >= 100 ? 50e9 : computeCapability >= 70 ? 25e9 : 20e9;
}

}  // namespace vsim::gpu::cuda
