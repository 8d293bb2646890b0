#include "sim/compute/attention_software.h"

#include <vector>

#include "sim/compute/kernel_lookup.h"

namespace vsim::sim {
namespace {

/// Classes whose kernels use the same instructions and schedule, best first.
std::vector<std::string> relatedClasses(const std::string& name, int computeCapability) {
  if (name == "flash2") return {"flash2", "sglang"};
  if (name == "flash3") return {"flash3", "vision-flash3", "cudnn", "flash4"};
  if (name == "flash4") return {"flash4", "vision-flash4", "flash3", "cudnn"};
  if (name == "te" && computeCapability >= 90) return {"cudnn", "te", "flash3"};
  if (name == "te") return {"te", "cudnn", "flash2"};
  if (name == "cudnn") return {"cudnn", "te", "flash3", "flash4"};
  return {name};
}

bool hopperOrNewer(const core::GpuSpec& gpu) { return gpu.computeCapability >= 90; }

}  // namespace

std::string usualAttention(const core::GpuSpec& gpu) {
  if (gpu.computeCapability >= 100) return "cudnn";
  return hopperOrNewer(gpu) ? "flash3" : "flash2";
}

AttentionChoice chooseAttention(const KernelParameters& parameters, const core::GpuSpec& gpu,
                                const std::string& library, Direction direction) {
  const std::string_view way = direction == Direction::forward ? "forward" : "backward";
  AttentionChoice choice;
  choice.device = deviceFor(gpu, "bf16");
  std::string name = library.empty() ? usualAttention(gpu) : library;
  choice.eager = name == "eager";
  // Triton's and FlashAttention-1's kernels reach about 0.55 of FlashAttention-2 (FlashAttention-2 paper,
  // arXiv:2307.08691, figures 4 to 6: 1.7 to 2.0 times).
  double scale = 1;
  if (name == "triton" || name == "flash1") {
    scale = 0.55;
    name = "flash2";
  }
  if (name == "flash2" && hopperOrNewer(gpu)) {
    // mma.sync kernels do not use the wide tensor cores of Hopper and later: the A100's rate per SM times the
    // ratio of SM counts and of boost clocks (1.755 GHz and 1.85 GHz against 1.41 GHz).
    const double clocks = gpu.computeCapability >= 100 ? 1.31 : 1.245;
    choice.block = findAttention(parameters, "A100", way);
    choice.device.tensorShare = 1;
    choice.device.peak = 312e12 * clocks * gpu.sms / 108.0;
    choice.rate =
        scale * choice.block->rates.valueOr("flash2", 1) * parameters.attentionRates.valueOr("flash2", 1);
    return choice;
  }
  choice.block = findAttention(parameters, gpu.family, way);
  choice.rate = scale;
  const auto related = relatedClasses(name, gpu.computeCapability);
  // A rate measured in this direction on this family comes first, then what the library keeps on every board.
  for (const std::string& candidate : related)
    if (const double* own = choice.block->rates.find(candidate)) {
      choice.rate = scale * *own * parameters.attentionRates.valueOr(candidate, 1);
      return choice;
    }
  for (const std::string& candidate : related)
    if (const double* shared = parameters.attentionRates.find(candidate)) {
      choice.rate = scale * *shared;
      return choice;
    }
  return choice;
}

}  // namespace vsim::sim
