#include <cmath>
#include <type_traits>

#include "gpu/cuda/launch.cuh"

namespace vsim::gpu::cuda {
namespace {

/// As core::adamwStep computes them, on the host for both.
AdamWFactors factorsOf(const device::AdamWCall& call) {
  const double correction1 = 1.0 - std::pow(static_cast<double>(call.beta1), static_cast<int>(call.step));
  const double correction2 =
      std::sqrt(1.0 - std::pow(static_cast<double>(call.beta2), static_cast<int>(call.step)));
  AdamWFactors factors{};
  factors.decay = 1.0F - call.learningRate * call.weightDecay;
  factors.keepFirst = 1.0F - call.beta1;
  factors.beta2 = call.beta2;
  factors.keepSecond = 1.0F - call.beta2;
  factors.stepSize = static_cast<float>(static_cast<double>(call.learningRate) / correction1);
  factors.correction2 = static_cast<float>(correction2);
  factors.epsilon = call.epsilon;
  return factors;
}

}  // namespace

int launchAdamW(const LaunchContext& context, const device::AdamWCall& call) {
  if (call.elements <= 0) return 0;
  return withFloating(call.parameterType, [&](auto parameterTag) {
    return withFloating(call.gradientType, [&](auto gradientTag) {
      using P = typename decltype(parameterTag)::Type;
      using G = typename decltype(gradientTag)::Type;
      if constexpr (sizeof(P) == sizeof(G) && !std::is_same_v<P, G>) {
        return kUnsupportedTypes;  // bf16 and fp16 in one step
      } else {
        using Body = AdamWBody<P, G>;
        const PackPlan plan = planPacks(call.elements, Body::kWidth,
                                        {{call.parameters, sizeof(P)},
                                         {call.gradients, sizeof(G)},
                                         {call.first, sizeof(float)},
                                         {call.second, sizeof(float)}});
        const Body body{static_cast<P*>(call.parameters), static_cast<const G*>(call.gradients), call.first,
                        call.second, factorsOf(call)};
        return launchElementwise(context, body, plan, call.elements);
      }
    });
  });
}

}  // namespace vsim::gpu::cuda
