// Kernels of the stand-in: what they touch is checked; data kernels compute, the others spoil what they
// write.

#include <fmt/format.h>

#include "tests/gpu/stand_in/kernels.h"
#include "tests/gpu/stand_in/stand_in.h"

namespace vsim::test {

using gpu::device::Status;

namespace {

std::size_t width(core::DType type) { return static_cast<std::size_t>(core::bytesOf(type)); }
std::size_t bytes(std::int64_t elements, core::DType type) {
  return static_cast<std::size_t>(elements) * width(type);
}
/// `element` may be negative: segments of one launch lie in several allocations.
const void* at(const void* memory, std::int64_t element, core::DType type) {
  return reinterpret_cast<const void*>(static_cast<std::intptr_t>(reinterpret_cast<std::uintptr_t>(memory)) +
                                       element * core::bytesOf(type));
}

}  // namespace

Status StandIn::gemm(const gpu::device::GemmCall& call, Stream stream) {
  const DType out = call.accumulate ? DType::fp32 : call.dtype;
  return compute("gemm", stream,
                 {{call.a, bytes(call.m * call.k, call.dtype), 16},
                  {call.b, bytes(call.groups * call.k * call.n, call.dtype), 16}},
                 {call.c, bytes(call.m * call.n, out), 16});
}

gpu::device::OperandBytes StandIn::attentionMemory(const gpu::device::AttentionCall& call) const {
  const std::size_t one = bytes(call.batch * call.heads * call.sequence * call.headDim, call.dtype);
  return {3 * one, call.backward ? 4 * one : 2 * one};
}

Status StandIn::attention(const gpu::device::AttentionCall& call, Stream stream) {
  const gpu::device::OperandBytes memory = attentionMemory(call);
  return compute("attention", stream, {{call.operands, memory.read, 16}}, {call.results, memory.written, 16});
}

Status StandIn::touch(const gpu::device::TouchCall& call, Stream stream) {
  return compute("touch", stream, {{call.source, call.sourceBytes, 16}}, {call.target, call.targetBytes, 16});
}

Status StandIn::compute(const char* function, Stream stream, const std::vector<Range>& operands,
                        const Range& result) {
  std::vector<Range> ranges = operands;
  ranges.push_back(result);
  return push(
      function, stream, std::move(ranges),
      [this, function, operands, result] {
        for (const Range& operand : operands)
          if (spoiled(operand.memory, operand.bytes))
            violations_.add(
                fmt::format("{} reads what is no number: memory that nobody filled, or results "
                            "of other kernels",
                            function));
        spoil(const_cast<void*>(result.memory), result.bytes);
      },
      true);
}

Status StandIn::empty(Stream stream) {
  return push(
      "empty", stream, {}, [] {}, true);
}

Status StandIn::copySegments(const gpu::device::CopyCall& call, Stream stream) {
  const auto tables = static_cast<std::size_t>(call.segmentCount) * sizeof(gpu::device::CopySegment);
  return push(
      "copySegments", stream, {{call.segments, tables, alignof(gpu::device::CopySegment)}},
      [this, call, number = streamOf(stream) ? streamOf(stream)->device() : 0] {
        std::int64_t longest = 0, elements = 0;
        for (std::int64_t s = 0; s < call.segmentCount; ++s) {
          const gpu::device::CopySegment& segment = call.segments[s];
          if (!device(number).touches(at(call.source, segment.from, call.sourceType),
                                      bytes(segment.count, call.sourceType), width(call.sourceType),
                                      "copySegments") ||
              !device(number).touches(at(call.target, segment.to, call.targetType),
                                      bytes(segment.count, call.targetType), width(call.targetType),
                                      "copySegments"))
            return;
          longest = std::max(longest, segment.count);
          elements += segment.count;
        }
        if (longest != call.longest || elements != call.elements)
          violations_.add("copySegments: the table is not what the call says");
        test::copySegments(call);
      },
      true);
}

Status StandIn::cast(const void* x, DType xType, void* y, DType yType, std::int64_t elements, bool add,
                     Stream stream) {
  return push(
      "cast", stream, {{x, bytes(elements, xType), width(xType)}, {y, bytes(elements, yType), width(yType)}},
      [=] { test::cast(x, xType, y, yType, elements, add); }, true);
}

Status StandIn::scale(void* x, DType type, std::int64_t elements, float factor, Stream stream) {
  return push(
      "scale", stream, {{x, bytes(elements, type), width(type)}},
      [=] { test::scale(x, type, elements, factor); }, true);
}

Status StandIn::squaredNorm(const void* x, DType type, std::int64_t elements, float* sum, Stream stream) {
  return push(
      "squaredNorm", stream, {{x, bytes(elements, type), width(type)}, {sum, sizeof(float), 4}},
      [=] { test::squaredNorm(x, type, elements, sum); }, true);
}

Status StandIn::fillSynthetic(void* x, DType type, std::uint64_t base, std::int64_t first,
                              std::int64_t elements, Stream stream) {
  return push(
      "fillSynthetic", stream, {{x, bytes(elements, type), width(type)}},
      [=] { test::fillSynthetic(x, type, base, first, elements); }, true);
}

Status StandIn::adamW(const gpu::device::AdamWCall& call, Stream stream) {
  return push(
      "adamW", stream,
      {{call.parameters, bytes(call.elements, call.parameterType), width(call.parameterType)},
       {call.gradients, bytes(call.elements, call.gradientType), width(call.gradientType)},
       {call.first, bytes(call.elements, DType::fp32), 4},
       {call.second, bytes(call.elements, DType::fp32), 4}},
      [=] { test::adamW(call); }, true);
}

Status StandIn::quantize(const gpu::device::QuantizeCall& call, Stream stream) {
  const std::int64_t blocks = (call.elements + call.block - 1) / call.block;
  return push(
      "quantize", stream,
      {{call.values, bytes(call.elements, DType::fp32), 4},
       {call.codes, bytes(call.elements, DType::uint8), 1},
       {call.scales, bytes(blocks, DType::fp32), 4}},
      [=] { test::quantize(call); }, true);
}

Status StandIn::dequantize(const gpu::device::QuantizeCall& call, float* values, Stream stream) {
  const std::int64_t blocks = (call.elements + call.block - 1) / call.block;
  return push(
      "dequantize", stream,
      {{values, bytes(call.elements, DType::fp32), 4},
       {call.codes, bytes(call.elements, DType::uint8), 1},
       {call.scales, bytes(blocks, DType::fp32), 4}},
      [=] { test::dequantize(call, values); }, true);
}

Status StandIn::newtonSchulz(void* x, std::int64_t rows, std::int64_t columns, int, void* scratch,
                             Stream stream) {
  const std::int64_t side = std::max(rows, columns);
  return push(
      "newtonSchulz", stream,
      {{x, bytes(rows * columns, DType::bf16), 16}, {scratch, bytes(3 * side * side, DType::bf16), 16}},
      [] {}, true);
}

}  // namespace vsim::test
