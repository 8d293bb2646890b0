#include "gpu/cuda/launch.cuh"

namespace vsim::gpu::cuda {

int launchCast(const LaunchContext& context, const void* x, core::DType xType, void* y, core::DType yType,
               std::int64_t elements, bool add) {
  if (elements <= 0) return 0;
  return withFloating(xType, [&](auto xTag) {
    return withFloating(yType, [&](auto yTag) {
      using X = typename decltype(xTag)::Type;
      using Y = typename decltype(yTag)::Type;
      const PackPlan plan = planPacks(elements, CastBody<X, Y>::kWidth, {{x, sizeof(X)}, {y, sizeof(Y)}});
      return launchElementwise(context, CastBody<X, Y>{static_cast<const X*>(x), static_cast<Y*>(y), add},
                               plan, elements);
    });
  });
}

int launchScale(const LaunchContext& context, void* x, core::DType type, std::int64_t elements, float factor,
                const float* norm) {
  if (elements <= 0) return 0;
  return withFloating(type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const PackPlan plan = planPacks(elements, ScaleBody<T>::kWidth, {{x, sizeof(T)}});
    return launchElementwise(context, ScaleBody<T>{static_cast<T*>(x), factor, norm}, plan, elements);
  });
}

int launchFillSynthetic(const LaunchContext& context, void* x, core::DType type, std::uint64_t base,
                        std::int64_t first, std::int64_t elements) {
  if (elements <= 0) return 0;
  const auto fill = [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const PackPlan plan = planPacks(elements, FillBody<T>::kWidth, {{x, sizeof(T)}});
    return launchElementwise(context, FillBody<T>{static_cast<T*>(x), base, first}, plan, elements);
  };
  return type == core::DType::fp8 ? fill(TypeTag<Fp8>{}) : withFloating(type, fill);
}

}  // namespace vsim::gpu::cuda
