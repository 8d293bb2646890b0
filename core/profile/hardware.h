#pragma once

#include <cstdint>
#include <string>

#include "core/base/dtype.h"
#include "core/base/units.h"

namespace vsim::core {

/// What one GPU board can do, as plain facts (the catalogue with its sources is sim/cluster).
struct GpuSpec {
  std::string name;  // as in kernel tables: "H100-SXM", "A100-PCIe-80GB"
  std::string
      family;  // whose fitted kernel parameters apply: "A100", "H100", "H200", "B200", "GB200", "A40", "L40S"
  int computeCapability = 80;  // 80, 86, 89, 90, 100; 0: a processor, whose cores are `sms`
  int sms = 0;
  double peakBf16 = 0;  // dense FLOP/s (fp16 the same)
  double peakFp8 = 0;   // 0: none
  double peakFp32 = 0;  // CUDA cores, FLOP/s
  double hbmBytesPerSecond = 0;
  Bytes memory = 0;                 // what the driver reports as total
  double nvlinkBytesPerSecond = 0;  // all links together, one direction
  double powerWatts = 0;

  /// Dense matrix peak for operands of `type`.
  [[nodiscard]] double peak(DType type) const {
    if (type == DType::fp8) return peakFp8 > 0 ? peakFp8 : peakBf16;
    if (type == DType::fp32) return peakFp32;
    return peakBf16;
  }
  bool operator==(const GpuSpec&) const = default;
};

enum class FabricKind : std::uint8_t { railOptimized, clos };

/// A cluster of equal nodes. Rates are one direction.
struct ClusterHardware {
  std::string preset;
  GpuSpec gpu;
  int gpusPerNode = 8;
  int nvlinkDomain = 8;  // GPUs joined by NVLink/NVSwitch (72 on NVL72)
  bool nvSwitch = true;
  int nicsPerNode = 8;
  double nicBytesPerSecond = 50e9;  // one NIC
  double nicLatencySeconds = 0;     // as the network plug-in reports it
  bool amdHost = false;
  FabricKind fabric = FabricKind::railOptimized;
  double oversubscription = 1.0;  // leaf to spine; 1: non-blocking
  int nodesPerPod = 0;            // nodes below one leaf layer; 0: one pod
  bool operator==(const ClusterHardware&) const = default;
};

}  // namespace vsim::core
