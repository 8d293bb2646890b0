#include "gpu/cuda/quantize.cuh"

#include "gpu/cuda/launch.cuh"

namespace vsim::gpu::cuda {
namespace {

/// Packs of four need blocks that begin at multiples of four elements, and aligned pointers.
bool packed(const void* floats, const void* codes, std::int64_t block) {
  return block % 4 == 0 && reinterpret_cast<std::uintptr_t>(floats) % 16 == 0 &&
         reinterpret_cast<std::uintptr_t>(codes) % 4 == 0;
}

std::int64_t blocksFor(const device::QuantizeCall& call) {
  return std::min(kMostBlocks, ceilDivide(ceilDivide(call.elements, call.block), kThreads / kLanes));
}

}  // namespace

int launchQuantize(const LaunchContext& context, const device::QuantizeCall& call) {
  if (call.elements <= 0) return 0;
  if (call.block <= 0) return kInvalidValue;
  const auto kernel = packed(call.values, call.codes, call.block) ? &quantizeKernel<4> : &quantizeKernel<1>;
  return launchKernel(context, blocksFor(call), kernel, call.values, call.codes, call.scales, call.elements,
                      call.block);
}

int launchDequantize(const LaunchContext& context, const device::QuantizeCall& call, float* values) {
  if (call.elements <= 0) return 0;
  if (call.block <= 0) return kInvalidValue;
  const auto kernel = packed(values, call.codes, call.block) ? &dequantizeKernel<4> : &dequantizeKernel<1>;
  return launchKernel(context, blocksFor(call), kernel, call.codes, call.scales, values, call.elements,
                      call.block);
}

}  // namespace vsim::gpu::cuda
