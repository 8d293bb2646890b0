#include "gpu/cuda/copy_segments.cuh"

#include "gpu/cuda/launch.cuh"

namespace vsim::gpu::cuda {
namespace {

template <class S, class T>
int launch(const LaunchContext& context, const device::CopyCall& call) {
  // Four packs a thread: the unrolled loop of copyPacks runs once a chunk.
  constexpr std::int64_t kChunk = std::int64_t{kThreads} * 4 * kCopyWidth<S, T>;
  const auto* const source = static_cast<const S*>(call.source);
  auto* const target = static_cast<T*>(call.target);
  const CopyPlan plan = planCopy(call.segmentCount, call.longest, call.elements, kChunk, context.processors);
  if (plan.balanced)
    return launchKernel(context, plan.blocks, &balancedCopyKernel<S, T>, source, target, call.segments,
                        call.segmentCount, call.elements);
  return launchKernel(context, plan.blocks, &evenCopyKernel<S, T>, source, target, call.segments, plan);
}

int launchMove(const LaunchContext& context, const device::CopyCall& call) {
  switch (core::bytesOf(call.sourceType)) {
    case 1:
      return launch<std::uint8_t, std::uint8_t>(context, call);
    case 2:
      return launch<std::uint16_t, std::uint16_t>(context, call);
    case 4:
      return launch<std::uint32_t, std::uint32_t>(context, call);
    case 8:
      return launch<std::uint64_t, std::uint64_t>(context, call);
    default:
      return kUnsupportedTypes;
  }
}

}  // namespace

int launchCopy(const LaunchContext& context, const device::CopyCall& call) {
  if (call.segmentCount <= 0 || call.elements <= 0) return 0;
  if (call.sourceType == call.targetType) return launchMove(context, call);
  return withFloating(call.sourceType, [&](auto sourceTag) {
    return withFloating(call.targetType, [&](auto targetTag) {
      using S = typename decltype(sourceTag)::Type;
      using T = typename decltype(targetTag)::Type;
      // One of the two is fp32: nobody converts between the 16-bit types.
      if constexpr (sizeof(S) == sizeof(T))
        return kUnsupportedTypes;
      else
        return launch<S, T>(context, call);
    });
  });
}

}  // namespace vsim::gpu::cuda
