#include "sim/cluster/gpu_catalogue.h"

#include <array>

namespace vsim::sim {
namespace {

using core::Bytes;
using core::GpuSpec;

constexpr Bytes mebibytes(std::int64_t count) { return count << 20; }
constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;

/// Sources.
/// Peaks (dense, without sparsity), HBM bandwidth, SMs, NVLink and power: NVIDIA datasheets and architecture
/// white papers of the boards (A100, A40, H100, H200, GH200, L40S, HGX/DGX B200 and B300, GB200/GB300 NVL72);
/// NVLink is half of the bidirectional figure printed there. H800 (400 GB/s NVLink) and H20 (148 TFLOPS, 78
/// SMs, 4 TB/s): product briefs for the boards sold in China. The HBM rate of the 500 W H100 with HBM2e is an
/// assumption (2.4 TB/s). 152 SMs of GB200 and GB300: assumed from the same die count as published kernels
/// use. Memory: what cudaMemGetInfo reports as total, as printed by PyTorch's out-of-memory messages on these
/// boards (A100 39.49 and 79.25 GiB, H100 79.18, H200 139.81, H20 95.22, GH200 94.50, B200 178.36, B300
/// 267.69, GB200 184.31, GB300 276.50, L40S 44.40, A40 44.34); ECC and the driver's reserve are already off.
const std::array<GpuSpec, 18>& catalogue() {
  static const std::array<GpuSpec, 18> boards = [] {
    const GpuSpec a100{.name = "A100-SXM-80GB",
                       .family = "A100",
                       .computeCapability = 80,
                       .sms = 108,
                       .peakBf16 = 312 * kTera,
                       .peakFp8 = 0,
                       .peakFp32 = 19.5 * kTera,
                       .hbmBytesPerSecond = 2039 * kGiga,
                       .memory = mebibytes(81'152),
                       .nvlinkBytesPerSecond = 300 * kGiga,
                       .powerWatts = 400};
    GpuSpec a100Sxm40 = a100;
    a100Sxm40.name = "A100-SXM-40GB";
    a100Sxm40.hbmBytesPerSecond = 1555 * kGiga;
    a100Sxm40.memory = mebibytes(40'438);
    GpuSpec a100Pcie80 = a100;  // NVLink only through a bridge that joins two boards
    a100Pcie80.name = "A100-PCIe-80GB";
    a100Pcie80.hbmBytesPerSecond = 1935 * kGiga;
    a100Pcie80.powerWatts = 300;
    GpuSpec a100Pcie40 = a100Pcie80;
    a100Pcie40.name = "A100-PCIe-40GB";
    a100Pcie40.hbmBytesPerSecond = 1555 * kGiga;
    a100Pcie40.memory = mebibytes(40'438);
    a100Pcie40.powerWatts = 250;
    GpuSpec a100Unstated = a100;  // board not stated by the source: taken as SXM
    a100Unstated.name = "A100-80GB";

    const GpuSpec a40{.name = "A40",
                      .family = "A40",
                      .computeCapability = 86,
                      .sms = 84,
                      .peakBf16 = 149.7 * kTera,
                      .peakFp8 = 0,
                      .peakFp32 = 37.4 * kTera,
                      .hbmBytesPerSecond = 696 * kGiga,
                      .memory = mebibytes(45'404),
                      .nvlinkBytesPerSecond = 56.25 * kGiga,
                      .powerWatts = 300};
    const GpuSpec l40s{.name = "L40S",
                       .family = "L40S",
                       .computeCapability = 89,
                       .sms = 142,
                       .peakBf16 = 362 * kTera,
                       .peakFp8 = 733 * kTera,
                       .peakFp32 = 91.6 * kTera,
                       .hbmBytesPerSecond = 864 * kGiga,
                       .memory = mebibytes(45'466),
                       .nvlinkBytesPerSecond = 0,
                       .powerWatts = 350};

    const GpuSpec h100{.name = "H100-SXM",
                       .family = "H100",
                       .computeCapability = 90,
                       .sms = 132,
                       .peakBf16 = 989.4 * kTera,
                       .peakFp8 = 1978.9 * kTera,
                       .peakFp32 = 66.9 * kTera,
                       .hbmBytesPerSecond = 3352 * kGiga,
                       .memory = mebibytes(81'080),
                       .nvlinkBytesPerSecond = 450 * kGiga,
                       .powerWatts = 700};
    GpuSpec h100Capped = h100;
    h100Capped.name = "H100-SXM-500W";
    h100Capped.hbmBytesPerSecond = 2400 * kGiga;
    h100Capped.memory = mebibytes(97'280);
    h100Capped.powerWatts = 500;
    GpuSpec h100Pcie = h100;
    h100Pcie.name = "H100-PCIe";
    h100Pcie.sms = 114;
    h100Pcie.peakBf16 = 756 * kTera;
    h100Pcie.peakFp8 = 1513 * kTera;
    h100Pcie.peakFp32 = 51.2 * kTera;
    h100Pcie.hbmBytesPerSecond = 2039 * kGiga;
    h100Pcie.nvlinkBytesPerSecond = 300 * kGiga;
    h100Pcie.powerWatts = 350;
    GpuSpec h800 = h100;
    h800.name = "H800-SXM";
    h800.nvlinkBytesPerSecond = 200 * kGiga;
    GpuSpec h20 = h100;
    h20.name = "H20";
    h20.sms = 78;
    h20.peakBf16 = 148 * kTera;
    h20.peakFp8 = 296 * kTera;
    h20.peakFp32 = 44 * kTera;
    h20.hbmBytesPerSecond = 4000 * kGiga;
    h20.memory = mebibytes(97'505);
    h20.powerWatts = 500;
    GpuSpec gh200 = h100;  // the rate is that of the HBM3e board; the Alps node keeps its own HBM3 figures
    gh200.name = "GH200";
    gh200.hbmBytesPerSecond = 4800 * kGiga;
    gh200.memory = mebibytes(143'165);
    gh200.powerWatts = 900;
    GpuSpec h200 = h100;
    h200.name = "H200-SXM";
    h200.family = "H200";
    h200.hbmBytesPerSecond = 4800 * kGiga;
    h200.memory = mebibytes(143'165);

    const GpuSpec b200{.name = "B200-SXM",
                       .family = "B200",
                       .computeCapability = 100,
                       .sms = 148,
                       .peakBf16 = 2250 * kTera,
                       .peakFp8 = 4500 * kTera,
                       .peakFp32 = 75 * kTera,
                       .hbmBytesPerSecond = 8000 * kGiga,
                       .memory = mebibytes(182'640),
                       .nvlinkBytesPerSecond = 900 * kGiga,
                       .powerWatts = 1000};
    GpuSpec b300 = b200;
    b300.name = "B300-SXM";
    b300.memory = mebibytes(274'114);
    b300.powerWatts = 1100;
    GpuSpec gb200 = b200;
    gb200.name = "GB200";
    gb200.family = "GB200";
    gb200.sms = 152;
    gb200.peakBf16 = 2500 * kTera;
    gb200.peakFp8 = 5000 * kTera;
    gb200.peakFp32 = 80 * kTera;
    gb200.memory = mebibytes(188'733);
    gb200.powerWatts = 1200;
    GpuSpec gb300 = gb200;
    gb300.name = "GB300";
    gb300.memory = mebibytes(283'136);
    gb300.powerWatts = 1400;

    return std::array<GpuSpec, 18>{a100,  a100Sxm40, a100Pcie80, a100Pcie40, a100Unstated, a40,
                                   l40s,  h100,      h100Capped, h100Pcie,   h800,         h20,
                                   gh200, h200,      b200,       b300,       gb200,        gb300};
  }();
  return boards;
}

}  // namespace

const core::GpuSpec* findGpu(std::string_view name) {
  for (const GpuSpec& board : catalogue()) {
    if (board.name == name) return &board;
  }
  return nullptr;
}

std::vector<std::string> gpuNames() {
  std::vector<std::string> names;
  for (const GpuSpec& board : catalogue()) names.push_back(board.name);
  return names;
}

}  // namespace vsim::sim
