#include "sim/cluster/described_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "sim/cluster/cluster_catalogue.h"
#include "sim/cluster/gpu_catalogue.h"

namespace vsim::sim {
namespace {

using core::ClusterHardware;
using core::GpuSpec;

/// Words of a driver's name (upper case; all must be in it) and the board; special ones before general ones.
struct DeviceName {
  std::array<std::string_view, 2> words;
  std::string_view board;
};
constexpr std::array<DeviceName, 18> kDeviceNames{{{{"GB300", ""}, "GB300"},
                                                   {{"GB200", ""}, "GB200"},
                                                   {{"GH200", ""}, "GH200"},
                                                   {{"B300", ""}, "B300-SXM"},
                                                   {{"B200", ""}, "B200-SXM"},
                                                   {{"H200", ""}, "H200-SXM"},
                                                   {{"H100", "PCIE"}, "H100-PCIe"},
                                                   {{"H100", "NVL"}, "H100-PCIe"},
                                                   {{"H100", ""}, "H100-SXM"},
                                                   {{"H800", ""}, "H800-SXM"},
                                                   {{"H20", ""}, "H20"},
                                                   {{"A100-PCIE", "80GB"}, "A100-PCIe-80GB"},
                                                   {{"A100-PCIE", ""}, "A100-PCIe-40GB"},
                                                   {{"A100", "PCIE"}, "A100-PCIe-80GB"},
                                                   {{"A100", "80GB"}, "A100-SXM-80GB"},
                                                   {{"A100", ""}, "A100-SXM-40GB"},
                                                   {{"L40S", ""}, "L40S"},
                                                   {{"A40", ""}, "A40"}}};

/// `word` stands in `text` as a word of its own: no letter or digit before, no digit after.
bool hasWord(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]));
    const bool ends = end == text.size() || !std::isdigit(static_cast<unsigned char>(text[end]));
    if (begins && ends) return true;
  }
  return word.empty();
}

std::string familyOf(int computeCapability) {
  if (computeCapability >= 100) return "B200";
  if (computeCapability >= 90) return "H100";
  if (computeCapability == 89) return "L40S";
  if (computeCapability == 86) return "A40";
  return "A100";
}

template <class T>
void fill(T& value, const T& known) {
  if (value == T{}) value = known;
}

GpuSpec withBoard(GpuSpec stated, const GpuSpec& board, bool measured) {
  GpuSpec gpu = measured ? board : stated;
  if (measured) {
    if (stated.memory > 0) gpu.memory = stated.memory;
    if (stated.nvlinkBytesPerSecond > 0) gpu.nvlinkBytesPerSecond = stated.nvlinkBytesPerSecond;
    return gpu;
  }
  gpu.name = board.name;
  fill(gpu.family, board.family);
  fill(gpu.computeCapability, board.computeCapability);
  fill(gpu.sms, board.sms);
  fill(gpu.peakBf16, board.peakBf16);
  fill(gpu.peakFp8, board.peakFp8);
  fill(gpu.peakFp32, board.peakFp32);
  fill(gpu.hbmBytesPerSecond, board.hbmBytesPerSecond);
  fill(gpu.memory, board.memory);
  fill(gpu.nvlinkBytesPerSecond, board.nvlinkBytesPerSecond);
  fill(gpu.powerWatts, board.powerWatts);
  return gpu;
}

core::Result<void> checkBoard(const GpuSpec& gpu, bool processor) {
  std::vector<std::string> missing;
  if (!processor && gpu.computeCapability == 0) missing.emplace_back("compute_capability");
  if (gpu.sms == 0) missing.emplace_back("sms");
  if (gpu.peakBf16 <= 0) missing.emplace_back("bf16_peak");
  if (gpu.hbmBytesPerSecond <= 0) missing.emplace_back("hbm");
  if (gpu.memory <= 0) missing.emplace_back("memory");
  if (missing.empty()) return {};
  return core::fail(fmt::format("the profile's cluster does not say {}{}", fmt::join(missing, ", "),
                                processor ? std::string()
                                          : fmt::format(", and '{}' is no board of the catalogue", gpu.name)),
                    processor ? "calibrate the machine again"
                              : fmt::format("known boards: {}", fmt::join(gpuNames(), ", ")));
}

}  // namespace

const GpuSpec* boardOfDevice(std::string_view device) {
  if (const GpuSpec* board = findGpu(device)) return board;
  std::string upper(device);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const DeviceName& name : kDeviceNames)
    if (hasWord(upper, name.words[0]) && upper.find(name.words[1]) != std::string::npos)
      return findGpu(name.board);
  return nullptr;
}

core::Result<ClusterHardware> describedCluster(const core::ProfiledHardware& hardware) {
  ClusterHardware cluster = hardware.cluster;
  const bool processor = hardware.executor == "host", measured = !hardware.executor.empty();
  if (!cluster.preset.empty() && cluster.gpu.name.empty() && cluster.gpu.sms == 0)
    return clusterPreset(cluster.preset);
  if (cluster.preset.empty()) cluster.preset = cluster.gpu.name;
  GpuSpec& gpu = cluster.gpu;
  if (processor) {
    gpu.computeCapability = 0;
    if (gpu.peakBf16 <= 0) gpu.peakBf16 = gpu.peakFp32;
    if (gpu.peakFp32 <= 0) gpu.peakFp32 = gpu.peakBf16;
  } else {
    if (const GpuSpec* board = boardOfDevice(gpu.name)) {
      const bool hadNvlink = gpu.nvlinkBytesPerSecond > 0;
      gpu = withBoard(gpu, *board, measured);
      // The reader took a node without NVLink where the board's was left out.
      if (!measured && !hadNvlink && gpu.nvlinkBytesPerSecond > 0 && cluster.nvlinkDomain == 1) {
        cluster.nvlinkDomain = cluster.gpusPerNode;
        cluster.nvSwitch = true;
      }
    }
    if (gpu.family.empty()) gpu.family = familyOf(gpu.computeCapability);
  }
  if (const auto right = checkBoard(gpu, processor); !right) return tl::unexpected(right.error());
  return cluster;
}

}  // namespace vsim::sim
