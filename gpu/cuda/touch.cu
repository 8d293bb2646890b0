#include "gpu/cuda/touch.cuh"

#include "gpu/cuda/launch.cuh"

namespace vsim::gpu::cuda {
namespace {

__global__ void emptyKernel() {}

}  // namespace

int launchEmpty(const LaunchContext& context) { return launchKernel(context, 1, &emptyKernel); }

int launchTouch(const LaunchContext& context, void* scratch, std::size_t scratchBytes, std::int64_t read,
                std::int64_t written) {
  if (read <= 0 && written <= 0) return 0;
  const auto address = reinterpret_cast<std::uintptr_t>(scratch);
  const auto skip = static_cast<std::size_t>((kPackBytes - address % kPackBytes) % kPackBytes);
  const std::int64_t packs =
      scratchBytes < skip ? 0 : static_cast<std::int64_t>(scratchBytes - skip) / kPackBytes;
  if (packs < 2) return kInvalidValue;
  const TouchPlan plan = planTouch(packs, read < 0 ? 0 : read, written < 0 ? 0 : written);
  const std::int64_t longer = plan.reads > plan.writes ? plan.reads : plan.writes;
  const std::int64_t useful = ceilDivide(longer, std::int64_t{kThreads} * 4);
  return launchKernel(context, fullGrid(context, useful), &touchKernel,
                      reinterpret_cast<uint4*>(address + skip), plan, false);
}

}  // namespace vsim::gpu::cuda
