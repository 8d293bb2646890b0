#include "gpu/device/operations.h"

#include <algorithm>

namespace vsim::gpu::device {

using core::DType;
using core::InstructionKind;
using core::Operation;
using core::OpKind;

namespace {

constexpr std::size_t kAlignment = 512;  // of operands, as cudaMalloc aligns
// What a memory-bound kernel reads and writes at most before it comes to the same bytes again: more than any
// cache holds, so that it finds nothing cached.
constexpr std::int64_t kLargestTouch = std::int64_t{512} << 20U;
constexpr int kFirstWithFp8 = 89;  // Ada

std::size_t aligned(std::int64_t elements, DType type) {
  const auto bytes = static_cast<std::size_t>(elements * core::bytesOf(type));
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct GemmLayout {
  GemmCall call;
  std::size_t b = 0;  // offset of it behind a
  OperandBytes bytes{};
};

GemmLayout gemmLayout(const Operation& o) {
  constexpr std::int64_t kFp8Multiple = 16;
  const auto padded = [&](std::int64_t n) {
    return o.dtype == DType::fp8 ? (n + kFp8Multiple - 1) / kFp8Multiple * kFp8Multiple : n;
  };
  GemmLayout layout;
  layout.call = {.dtype = o.dtype,
                 .m = o.m,
                 .n = padded(o.n),
                 .k = padded(o.k),
                 .groups = o.kind == OpKind::groupedGemm ? std::max<std::int64_t>(o.groups, 1) : 1,
                 .accumulate = o.accumulatesFp32};
  const GemmCall& g = layout.call;
  layout.b = aligned(g.m * g.k, g.dtype);
  layout.bytes = {layout.b + aligned(g.groups * g.k * g.n, g.dtype),
                  aligned(g.m * g.n, g.accumulate ? DType::fp32 : g.dtype)};
  return layout;
}

AttentionCall attentionCall(const Operation& o) {
  return {.dtype = o.dtype,
          .backward = o.kind == OpKind::attentionBackward,
          .causal = o.causal,
          .batch = o.batch,
          .sequence = o.sequence,
          .heads = o.heads,
          .kvHeads = o.kvHeads > 0 ? o.kvHeads : o.heads,
          .headDim = o.headDim,
          .headDimValue = o.headDimValue > 0 ? o.headDimValue : o.headDim,
          .window = o.window};
}

/// One launch. Where it moves more than kLargestTouch, its memories are as much smaller, both alike.
TouchCall touchOf(const Operation& o) {
  const std::int64_t launches = std::max(o.count, 1);
  TouchCall touch;
  touch.read = o.bytesRead / launches;
  touch.written = o.bytesWritten / launches;
  const double all = static_cast<double>(touch.read) + static_cast<double>(touch.written);
  const double part = std::min(1.0, static_cast<double>(kLargestTouch) / std::max(all, 1.0));
  const auto memoryOf = [part](core::Bytes bytes) {
    return aligned(static_cast<std::int64_t>(part * static_cast<double>(bytes)) + (bytes > 0 ? 1 : 0),
                   DType::uint8);
  };
  touch.sourceBytes = memoryOf(touch.read);
  touch.targetBytes = memoryOf(touch.written);
  return touch;
}

OperandBytes operandsOf(const Api& api, const Operation& o) {
  switch (o.kind) {
    case OpKind::gemm:
    case OpKind::groupedGemm:
      return gemmLayout(o).bytes;
    case OpKind::attentionForward:
    case OpKind::attentionBackward:
      return api.attentionMemory(attentionCall(o));
    case OpKind::memory: {
      const TouchCall touch = touchOf(o);
      return {touch.sourceBytes, touch.targetBytes};
    }
  }
  return {};
}

/// Memory that collectives use beside the program's buffers.
OperandBytes operandsOf(const core::Collective& c) {
  const TimedCollectiveBytes timed = timedBytes(c);
  if (c.input == core::kNone) return {timed.send, timed.receive};
  // In-place all-to-alls receive here before they overwrite what they send.
  if (c.kind == core::CollectiveKind::allToAll && c.input == c.output) return {0, timed.receive};
  return {};
}

}  // namespace

TimedCollectiveBytes timedBytes(const core::Collective& c) {
  return {aligned(c.sendElements, c.dtype), aligned(c.receiveElements, c.dtype)};
}

Operations::Operations(const RankContext& context, const core::StepProgram& program, const DeviceFacts& facts,
                       const std::vector<Stream>& streams)
    : context_(context), streams_(streams) {
  std::vector<OperandBytes> bytes(streams.size());
  std::vector<DType> types(streams.size(), DType::bf16);  // of what is read
  for (const core::Instruction& i : program.step) {
    OperandBytes needed;
    if (i.kind == InstructionKind::kernel) {
      const core::Kernel& kernel = program.kernels[i.operand];
      if (kernel.operation == core::kNone || kernel.role != core::KernelRole::compute) continue;
      const Operation& operation = program.operations[kernel.operation];
      if (operation.dtype == DType::fp8 && operation.kind != OpKind::memory) {
        refuseWithoutFp8(operation, facts);
        types[i.stream] = DType::fp8;
      }
      needed = operandsOf(context.api, operation);
    } else if (i.kind == InstructionKind::collective) {
      needed = operandsOf(program.collectives[i.operand]);
    }
    bytes[i.stream].read = std::max(bytes[i.stream].read, needed.read);
    bytes[i.stream].written = std::max(bytes[i.stream].written, needed.written);
  }
  // Ordinary numbers: products of zeros, or of what memory happens to hold, take other power, hence other
  // time. Bytes of fp8 numbers are ordinary numbers of the wider types as well, but not the other way round.
  const auto make = [&](std::size_t stream, std::size_t size, DType type, const char* what) {
    auto block = std::make_unique<DeviceBlock>(
        context, size, fmt::format("{} of kernels on stream {}", what, program.streams[stream]));
    const auto elements = static_cast<std::int64_t>(size) / core::bytesOf(type);
    if (elements > 0)
      context.check(context.api.fillSynthetic(block->memory(), type, stream, 0, elements, streams[stream]));
    return block;
  };
  for (std::size_t s = 0; s < streams.size(); ++s) {
    operands_.push_back(make(s, bytes[s].read, types[s], "operands"));
    results_.push_back(make(s, bytes[s].written, DType::bf16, "results"));
  }
}

void Operations::refuseWithoutFp8(const Operation& operation, const DeviceFacts& facts) const {
  if (facts.computeCapability < kFirstWithFp8)
    context_.fail(
        fmt::format("operation {} computes in fp8, which {} (compute capability {}.{}) does not have",
                    operation.name, facts.name, facts.computeCapability / 10, facts.computeCapability % 10),
        "use bf16, or a device of compute capability 8.9 or later");
}

void Operations::launch(const Operation& o, core::StreamId stream) {
  const auto* const operands = static_cast<const std::byte*>(operands_[stream]->memory());
  void* const results = results_[stream]->memory();
  Api& api = context_.api;
  const int launches = std::max(o.count, 1);
  switch (o.kind) {
    case OpKind::gemm:
    case OpKind::groupedGemm: {
      GemmLayout layout = gemmLayout(o);
      if (layout.call.m == 0 || layout.call.n == 0 || layout.call.k == 0) return;
      layout.call.a = operands;
      layout.call.b = operands + layout.b;
      layout.call.c = results;
      for (int i = 0; i < launches; ++i) context_.check(api.gemm(layout.call, streams_[stream]));
      return;
    }
    case OpKind::attentionForward:
    case OpKind::attentionBackward: {
      AttentionCall call = attentionCall(o);
      call.operands = operands;
      call.results = results;
      for (int i = 0; i < launches; ++i) context_.check(api.attention(call, streams_[stream]));
      return;
    }
    case OpKind::memory: {
      TouchCall touch = touchOf(o);
      touch.source = operands;
      touch.target = results;
      // A kernel all the same: what is left of it is its launch.
      const bool empty = touch.read <= 0 && touch.written <= 0;
      for (int i = 0; i < launches; ++i)
        context_.check(empty ? api.empty(streams_[stream]) : api.touch(touch, streams_[stream]));
      return;
    }
  }
}

core::Bytes Operations::bytes() const {
  std::size_t all = 0;
  for (const auto* blocks : {&operands_, &results_})
    for (const auto& block : *blocks) all += block->bytes();
  return static_cast<core::Bytes>(all);
}

void Operations::abandon() {
  for (const auto* blocks : {&operands_, &results_})
    for (const auto& block : *blocks) block->abandon();
}

}  // namespace vsim::gpu::device
