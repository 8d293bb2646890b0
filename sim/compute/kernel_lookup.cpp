#include "sim/compute/kernel_lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace vsim::sim {
namespace {

template <class Map>
auto findBlock(const Map& map, std::string_view family, const std::vector<std::string>& variants) -> const
    typename Map::mapped_type* {
  for (const std::string& variant : variants)
    for (const std::string& candidate : similarFamilies(family))
      if (const auto it = map.find(candidate + " " + variant); it != map.end()) return &it->second;
  return map.empty() ? nullptr : &map.begin()->second;
}

std::vector<std::string> similarFormats(std::string_view format) {
  if (format == "fp16") return {"bf16"};
  if (format == "mxfp8") return {"mxfp8", "fp8_block", "fp8", "bf16"};
  if (format == "fp8_block") return {"fp8_block", "fp8", "bf16"};
  if (format == "nvfp4") return {"nvfp4", "fp8", "bf16"};
  return {std::string(format), "bf16"};
}

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// Direction and repetition stripped: row widths act alike in "rms_norm_fwd" and "rms_norm_bwd".
std::string_view operation(std::string_view op) {
  for (const std::string_view suffix : {"_fwd_bwd", "_fwd", "_bwd"})
    if (op.ends_with(suffix)) return op.substr(0, op.size() - suffix.size());
  return op;
}

/// What kind of kernel an operation is; operations that no table has measured behave like their kind.
std::string_view operationClass(std::string_view op) {
  struct Pattern {
    std::string_view text, name;
  };
  static constexpr std::array<Pattern, 14> patterns{{{"norm", "norm"},
                                                     {"dyt", "norm"},
                                                     {"adam", "optimizer"},
                                                     {"sgd", "optimizer"},
                                                     {"rope", "rope"},
                                                     {"cross_entropy", "loss"},
                                                     {"kl_div", "loss"},
                                                     {"softmax", "softmax"},
                                                     {"swiglu", "activation"},
                                                     {"geglu", "activation"},
                                                     {"activation", "activation"},
                                                     {"embedding", "embedding"},
                                                     {"quant", "quantize"},
                                                     {"stream", "elementwise"}}};
  for (const Pattern& pattern : patterns)
    if (op.find(pattern.text) != std::string_view::npos) return pattern.name;
  return "elementwise";
}

}  // namespace

Device deviceFor(const core::GpuSpec& gpu, std::string_view format) {
  const double fp8 = gpu.peakFp8 > 0 ? gpu.peakFp8 : gpu.peakBf16;
  Device device{gpu.peakBf16, gpu.hbmBytesPerSecond, static_cast<double>(gpu.sms)};
  if (format == "fp32" && gpu.peakFp32 > 0) device.peak = gpu.peakFp32;
  if (format == "fp8" || format == "fp8_block" || format == "mxfp8") device.peak = fp8;
  if (format == "nvfp4") device.peak = gpu.peakFp8 > 0 ? 2 * fp8 : gpu.peakBf16;
  // Boards of one generation differ in clock, which slows all of an SM alike; a factor of two and more is not
  // clock.
  constexpr double kHopperPeakPerSm = 989.4e12 / 132;
  const double share = gpu.peakBf16 / gpu.sms / kHopperPeakPerSm;
  if (gpu.computeCapability == 90 && share < 0.5) device.tensorShare = share;
  return device;
}

std::vector<std::string> similarFamilies(std::string_view family) {
  // By tensor-core generation, then by memory system.
  if (family == "A100") return {"A100", "A40", "H100"};
  if (family == "A40") return {"A40", "L40S", "A100"};
  if (family == "L40S") return {"L40S", "A40", "A100"};
  if (family == "H100") return {"H100", "H200", "B200", "A100"};
  if (family == "H200") return {"H200", "H100", "B200", "A100"};
  if (family == "B200") return {"B200", "GB200", "H200", "H100", "A100"};
  if (family == "GB200") return {"GB200", "B200", "H200", "H100", "A100"};
  return {std::string(family), "H100", "A100"};
}

const ParameterBlock<GemmParameters>* findGemm(const KernelParameters& p, std::string_view family,
                                               std::string_view format) {
  return findBlock(p.gemm, family, similarFormats(format));
}
const ParameterBlock<GroupedParameters>* findGrouped(const KernelParameters& p, std::string_view family,
                                                     std::string_view format) {
  return findBlock(p.grouped, family, similarFormats(format));
}
const ParameterBlock<AttentionParameters>* findAttention(const KernelParameters& p, std::string_view family,
                                                         std::string_view direction) {
  std::vector<std::string> variants{std::string(direction)};
  if (const auto at = direction.find('_'); at != std::string_view::npos)
    variants.emplace_back(direction.substr(0, at));
  return findBlock(p.attention, family, variants);
}
const ParameterBlock<MemoryParameters>* findMemory(const KernelParameters& p, std::string_view family) {
  for (const std::string& candidate : similarFamilies(family))
    if (const auto it = p.memory.find(candidate); it != p.memory.end()) return &it->second;
  return p.memory.empty() ? nullptr : &p.memory.begin()->second;
}

std::string attentionClass(std::string_view library) {
  const std::string name = lowerCase(library);
  struct Pattern {
    std::string_view text, name;
  };
  // The first match counts: special names before the general ones they contain.
  static constexpr std::array<Pattern, 26> patterns{{{"mla", "mla"},
                                                     {"flashinfer", "flashinfer"},
                                                     {"vit_flash_attn_fa4", "vision-flash4"},
                                                     {"vit_flash_attn_fa3", "vision-flash3"},
                                                     {"vit_flash_attn", "flash2"},
                                                     {"torch_flow", "trtllm"},
                                                     {"trtllm", "trtllm"},
                                                     {"sglang", "sglang"},
                                                     {"transformerengine", "te"},
                                                     {"cudnn oss", "cudnn-oss"},
                                                     {"cudnn", "cudnn"},
                                                     {"fa4", "flash4"},
                                                     {"flash4", "flash4"},
                                                     {"flashattention-4", "flash4"},
                                                     {"fa3", "flash3"},
                                                     {"flash3", "flash3"},
                                                     {"flashattention-3", "flash3"},
                                                     {"fa2", "flash2"},
                                                     {"flash2", "flash2"},
                                                     {"flashattention-2", "flash2"},
                                                     {"flash_attn", "flash2"},
                                                     {"fa1", "flash1"},
                                                     {"flash1", "flash1"},
                                                     {"triton", "triton"},
                                                     {"eager", "eager"},
                                                     {"math", "eager"}}};
  for (const Pattern& pattern : patterns)
    if (name.find(pattern.text) != std::string::npos) return std::string(pattern.name);
  return name == "te" ? name : std::string();
}

std::string libraryClass(std::string_view library) {
  std::string name = lowerCase(library);
  const auto space = name.rfind(' ');
  if (space != std::string::npos && space + 1 < name.size() &&
      std::isdigit(static_cast<unsigned char>(name[space + 1])))
    name.resize(space);
  return name;
}

std::vector<std::string> memoryRateKeys(std::string_view op, std::string_view library,
                                        std::string_view format, std::string_view family, double columns) {
  std::vector<std::string> keys;
  const std::string_view direction = op.substr(operation(op).size());
  keys.push_back(fmt::format("class|{}{}", operationClass(op), direction));
  keys.emplace_back(op);
  const std::string name = libraryClass(library);
  if (!name.empty()) {
    keys.push_back(fmt::format("library|{}", name));
    keys.push_back(fmt::format("{}|{}", op, name));
    keys.push_back(fmt::format("{}|{}|{}|{}", op, name, format, family));
  }
  if (columns >= 1) {
    const int width = std::clamp(static_cast<int>(std::log2(columns)), 5, 17);
    keys.push_back(fmt::format("width|{}|{}", operation(op), width));
  }
  return keys;
}

std::vector<std::string> memoryFloorKeys(std::string_view op, std::string_view library,
                                         std::string_view family) {
  return {fmt::format("floor|{}|{}|{}", op, libraryClass(library), family)};
}

double memoryRate(const Rates& rates, std::string_view op, std::string_view library, std::string_view format,
                  std::string_view family, double columns) {
  double rate = 1;
  for (const std::string& key : memoryRateKeys(op, library, format, family, columns))
    rate *= rates.valueOr(key, 1);
  return rate;
}

}  // namespace vsim::sim
