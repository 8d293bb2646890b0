#include "tests/gpu/stand_in/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/optim/optimizer.h"
#include "gpu/elements.h"
#include "gpu/synthetic.h"

namespace vsim::test {

using core::DType;
using gpu::loadElement;
using gpu::storeElement;

void copySegments(const gpu::device::CopyCall& call) {
  for (std::int64_t s = 0; s < call.segmentCount; ++s) {
    const gpu::device::CopySegment& segment = call.segments[s];
    for (std::int64_t i = 0; i < segment.count; ++i)
      storeElement(call.targetType, call.target, segment.to + i,
                   loadElement(call.sourceType, call.source, segment.from + i));
  }
}

void cast(const void* x, DType xType, void* y, DType yType, std::int64_t elements, bool add) {
  for (std::int64_t i = 0; i < elements; ++i) {
    const float value = loadElement(xType, x, i);
    storeElement(yType, y, i, add ? loadElement(yType, y, i) + value : value);
  }
}

void scale(void* x, DType type, std::int64_t elements, float factor) {
  for (std::int64_t i = 0; i < elements; ++i) storeElement(type, x, i, loadElement(type, x, i) * factor);
}

void squaredNorm(const void* x, DType type, std::int64_t elements, float* sum) {
  for (std::int64_t i = 0; i < elements; ++i) {
    const float value = loadElement(type, x, i);
    *sum += value * value;
  }
}

void fillSynthetic(void* x, DType type, std::uint64_t base, std::int64_t first, std::int64_t elements) {
  if (type == DType::fp8) {  // numbers of its size; nobody computes with them
    auto* const codes = static_cast<std::uint8_t*>(x);
    for (std::int64_t i = 0; i < elements; ++i) {
      const float value = gpu::valueOfBase(base, first + i);
      codes[i] = static_cast<std::uint8_t>((value < 0 ? 0x80 : 0) | std::lrint(std::fabs(value) * 0x37));
    }
    return;
  }
  for (std::int64_t i = 0; i < elements; ++i) storeElement(type, x, i, gpu::valueOfBase(base, first + i));
}

void adamW(const gpu::device::AdamWCall& call) {
  const core::AdamwParameters parameters{call.learningRate, call.beta1, call.beta2, call.epsilon,
                                         call.weightDecay};
  for (std::int64_t i = 0; i < call.elements; ++i) {
    const core::AdamwState next = core::adamwStep(
        {loadElement(call.parameterType, call.parameters, i), call.first[i], call.second[i]},
        loadElement(call.gradientType, call.gradients, i), static_cast<int>(call.step), parameters);
    storeElement(call.parameterType, call.parameters, i, next.parameter);
    call.first[i] = next.exponentialAverage;
    call.second[i] = next.exponentialAverageSquare;
  }
}

void quantize(const gpu::device::QuantizeCall& call) {
  for (std::int64_t begin = 0; begin < call.elements; begin += call.block) {
    const std::int64_t end = std::min(begin + call.block, call.elements);
    float largest = 0;
    for (std::int64_t i = begin; i < end; ++i) largest = std::max(largest, std::fabs(call.values[i]));
    const float unit = largest / 127.0F;
    call.scales[begin / call.block] = unit;
    for (std::int64_t i = begin; i < end; ++i)
      call.codes[i] =
          unit == 0 ? std::int8_t{0} : static_cast<std::int8_t>(std::lrint(call.values[i] / unit));
  }
}

void spoil(void* memory, std::size_t bytes) {
  if (bytes > 0) std::memset(memory, 0xff, bytes);
}

bool spoiled(const void* memory, std::size_t bytes) {
  constexpr std::size_t kLooks = 64;
  const auto* const halves = static_cast<const std::uint16_t*>(memory);
  const std::size_t count = bytes / sizeof(std::uint16_t), step = std::max<std::size_t>(1, count / kLooks);
  for (std::size_t i = 0; i < count; i += step)
    if (halves[i] == 0xffffU) return true;
  return false;
}

void dequantize(const gpu::device::QuantizeCall& call, float* values) {
  for (std::int64_t i = 0; i < call.elements; ++i)
    values[i] = static_cast<float>(call.codes[i]) * call.scales[i / call.block];
}

}  // namespace vsim::test
