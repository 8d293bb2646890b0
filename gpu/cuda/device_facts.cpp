#include "gpu/cuda/device_facts.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include "gpu/cuda/cuda_status.h"
#include "gpu/cuda/nvml.h"

namespace vsim::gpu::cuda {
namespace {

/// NUMA node of a PCI device; 0 where the kernel does not say.
int numaNode(std::string pciAddress) {
  std::transform(pciAddress.begin(), pciAddress.end(), pciAddress.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::ifstream file("/sys/bus/pci/devices/" + pciAddress + "/numa_node");
  int node = 0;
  return file >> node && node > 0 ? node : 0;
}

}  // namespace

device::Status pciAddressOf(int device, std::string& out) {
  std::array<char, 32> text{};
  device::Status status = runtimeStatus(
      "cudaDeviceGetPCIBusId", cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device));
  if (status.ok()) out = text.data();
  return status;
}

device::Status readDeviceFacts(int device, device::DeviceFacts& out) {
  cudaDeviceProp properties{};
  device::Status status =
      runtimeStatus("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, device));
  if (!status.ok()) return status;
  out = {};
  out.name = properties.name;
  out.computeCapability = properties.major * 10 + properties.minor;
  out.sms = properties.multiProcessorCount;
  out.memory = static_cast<core::Bytes>(properties.totalGlobalMem);
  int kilohertz = 0, memoryKilohertz = 0, busBits = 0;
  const auto ask = [&](int& value, cudaDeviceAttr attribute) {
    if (status.ok())
      status = runtimeStatus("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&value, attribute, device));
  };
  ask(kilohertz, cudaDevAttrClockRate);
  ask(memoryKilohertz, cudaDevAttrMemoryClockRate);
  ask(busBits, cudaDevAttrGlobalMemoryBusWidth);
  std::string address;
  if (status.ok()) status = pciAddressOf(device, address);
  if (!status.ok()) return status;
  out.clockHertz = kilohertz * 1e3;
  // Two transfers a clock.
  out.memoryBytesPerSecond = 2.0 * memoryKilohertz * 1e3 * busBits / 8.0;
  out.nvlinkBytesPerSecond = nvml::activeLinks(address) * nvlinkBytesPerSecond(out.computeCapability);
  out.socket = numaNode(address);
  return {};
}

}  // namespace vsim::gpu::cuda
