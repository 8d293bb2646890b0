#include "gpu/cuda/reductions.cuh"

#include "gpu/cuda/launch.cuh"

namespace vsim::gpu::cuda {

int launchSquaredNorm(const LaunchContext& context, const void* x, core::DType type, std::int64_t elements,
                      const ReductionScratch& scratch, float* sum) {
  if (elements <= 0) return 0;
  return withFloating(type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    constexpr int kWidth = static_cast<int>(kPackBytes / sizeof(T));
    const auto* const values = static_cast<const T*>(x);
    const PackPlan plan = planPacks(elements, kWidth, {{x, sizeof(T)}});
    const std::int64_t useful = ceilDivide(plan.packs, std::int64_t{kThreads} * 4);
    const std::int64_t blocks = std::min(fullGrid(context, useful), kReductionBlocks);
    if (plan.width == kWidth)
      return launchKernel(context, blocks, &squaredNormKernel<kWidth, T>, values, plan, elements,
                          scratch.partials, scratch.done, sum);
    return launchKernel(context, blocks, &squaredNormKernel<1, T>, values, plan, elements, scratch.partials,
                        scratch.done, sum);
  });
}

int launchSoftmax(const LaunchContext& context, const SoftmaxCall& call) {
  if (call.rows <= 0 || call.units <= 0 || call.columns <= 0) return 0;
  if (call.units > kMostBlocks / call.rows) return kInvalidValue;
  return withFloating(call.dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const SoftmaxShape shape{call.rows,     call.columns, call.pitch, call.firstRow,
                             call.sequence, call.window,  call.scale, call.causal};
    const std::int64_t blocks = call.units * call.rows;
    auto* const scores = static_cast<T*>(call.scores);
    if (call.gradients == nullptr) return launchKernel(context, blocks, &softmaxKernel<T>, scores, shape);
    return launchKernel(context, blocks, &softmaxGradientKernel<T>, scores, static_cast<T*>(call.gradients),
                        shape);
  });
}

}  // namespace vsim::gpu::cuda
