#include "gpu/cuda/touch.cuh"

#include "gpu/cuda/launch.cuh"

namespace vsim::gpu::cuda {
namespace {

__global__ void emptyKernel() {}

/// The whole packs of some memory.
struct Packs {
  std::uintptr_t begin = 0;
  std::int64_t count = 0;
};

Packs packsOf(const void* memory, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const auto skip = static_cast<std::size_t>((kPackBytes - address % kPackBytes) % kPackBytes);
  return {address + skip, bytes < skip ? 0 : static_cast<std::int64_t>(bytes - skip) / kPackBytes};
}

}  // namespace

int launchEmpty(const LaunchContext& context) { return launchKernel(context, 1, &emptyKernel); }

int launchTouch(const LaunchContext& context, const device::TouchCall& call) {
  if (call.read <= 0 && call.written <= 0) return 0;
  const Packs source = packsOf(call.source, call.sourceBytes),
              target = packsOf(call.target, call.targetBytes);
  if ((call.read > 0 && source.count < 1) || (call.written > 0 && target.count < 1)) return kInvalidValue;
  const TouchPlan plan = planTouch(source.count, target.count, call.read, call.written);
  const std::int64_t longer = plan.reads > plan.writes ? plan.reads : plan.writes;
  const std::int64_t useful = ceilDivide(longer, std::int64_t{kThreads} * 4);
  return launchKernel(context, fullGrid(context, useful), &touchKernel,
                      reinterpret_cast<const uint4*>(source.begin), reinterpret_cast<uint4*>(target.begin),
                      plan, false);
}

}  // namespace vsim::gpu::cuda
