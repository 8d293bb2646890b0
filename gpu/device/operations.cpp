#include "gpu/device/operations.h"

#include <algorithm>

namespace vsim::gpu::device {

using core::DType;
using core::InstructionKind;
using core::Operation;
using core::OpKind;

namespace {

constexpr std::size_t kAlignment = 512;  // of operands, as cudaMalloc aligns
// More than any cache holds, so that memory-bound kernels find nothing cached.
constexpr std::int64_t kLargestTouch = std::int64_t{512} << 20U;
constexpr int kFirstWithFp8 = 89;  // Ada

std::size_t aligned(std::int64_t elements, DType type) {
  const auto bytes = static_cast<std::size_t>(elements * core::bytesOf(type));
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct GemmLayout {
  GemmCall call;
  std::size_t b = 0, c = 0, bytes = 0;  // offsets of the operands; a is at 0
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
  layout.c = layout.b + aligned(g.groups * g.k * g.n, g.dtype);
  layout.bytes = layout.c + aligned(g.m * g.n, g.accumulate ? DType::fp32 : g.dtype);
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

struct Touch {
  core::Bytes read = 0, written = 0;  // of one launch
  std::size_t scratch = 0;
};

Touch touchOf(const Operation& o) {
  const std::int64_t launches = std::max(o.count, 1);
  Touch touch{o.bytesRead / launches, o.bytesWritten / launches, 0};
  touch.scratch = aligned(std::min(std::max(touch.read, touch.written), kLargestTouch), DType::uint8);
  return touch;
}

std::size_t scratchOf(const Api& api, const Operation& o) {
  switch (o.kind) {
    case OpKind::gemm:
    case OpKind::groupedGemm:
      return gemmLayout(o).bytes;
    case OpKind::attentionForward:
    case OpKind::attentionBackward:
      return api.attentionScratch(attentionCall(o));
    case OpKind::memory:
      return touchOf(o).scratch;
  }
  return 0;
}

}  // namespace

TimedCollectiveBytes timedBytes(const core::Collective& c) {
  return {aligned(c.sendElements, c.dtype), aligned(c.receiveElements, c.dtype)};
}

Operations::Operations(const RankContext& context, const core::StepProgram& program, const DeviceFacts& facts,
                       const std::vector<Stream>& streams)
    : context_(context), streams_(streams) {
  std::vector<std::size_t> bytes(streams.size(), 0);
  for (const core::Instruction& i : program.step) {
    std::size_t needed = 0;
    if (i.kind == InstructionKind::kernel) {
      const core::Kernel& kernel = program.kernels[i.operand];
      if (kernel.operation == core::kNone || kernel.role != core::KernelRole::compute) continue;
      const Operation& operation = program.operations[kernel.operation];
      if (operation.dtype == DType::fp8 && operation.kind != OpKind::memory &&
          facts.computeCapability < kFirstWithFp8)
        context.fail(
            fmt::format("operation {} computes in fp8, which {} (compute capability {}.{}) does not have",
                        operation.name, facts.name, facts.computeCapability / 10,
                        facts.computeCapability % 10),
            "use bf16, or a device of compute capability 8.9 or later");
      needed = scratchOf(context.api, operation);
    } else if (i.kind == InstructionKind::collective) {
      // In-place all-to-alls receive here before they overwrite what they send.
      const core::Collective& c = program.collectives[i.operand];
      const TimedCollectiveBytes timed = timedBytes(c);
      if (c.input == core::kNone) needed = timed.send + timed.receive;
      if (c.kind == core::CollectiveKind::allToAll && c.input != core::kNone && c.input == c.output)
        needed = timed.receive;
    }
    bytes[i.stream] = std::max(bytes[i.stream], needed);
  }
  for (std::size_t s = 0; s < streams.size(); ++s) {
    scratch_.push_back(std::make_unique<DeviceBlock>(
        context, bytes[s], fmt::format("operands of kernels on stream {}", program.streams[s])));
    // Ordinary numbers: products of what memory happens to hold take other power, hence other time.
    const auto elements = static_cast<std::int64_t>(bytes[s]) / core::bytesOf(DType::bf16);
    if (elements > 0)
      context.check(
          context.api.fillSynthetic(scratch_[s]->memory(), DType::bf16, s, 0, elements, streams[s]));
  }
}

void Operations::launch(const Operation& o, core::StreamId stream) {
  auto* const scratch = static_cast<std::byte*>(scratch_[stream]->memory());
  Api& api = context_.api;
  const int launches = std::max(o.count, 1);
  switch (o.kind) {
    case OpKind::gemm:
    case OpKind::groupedGemm: {
      GemmLayout layout = gemmLayout(o);
      if (layout.call.m == 0 || layout.call.n == 0 || layout.call.k == 0) return;
      layout.call.a = scratch;
      layout.call.b = scratch + layout.b;
      layout.call.c = scratch + layout.c;
      for (int i = 0; i < launches; ++i) context_.check(api.gemm(layout.call, streams_[stream]));
      return;
    }
    case OpKind::attentionForward:
    case OpKind::attentionBackward: {
      AttentionCall call = attentionCall(o);
      call.data = scratch;
      for (int i = 0; i < launches; ++i) context_.check(api.attention(call, streams_[stream]));
      return;
    }
    case OpKind::memory: {
      const Touch touch = touchOf(o);
      for (int i = 0; i < launches; ++i)
        context_.check(api.touch(scratch, touch.scratch, touch.read, touch.written, streams_[stream]));
      return;
    }
  }
}

void Operations::abandon() {
  for (const auto& block : scratch_) block->abandon();
}

}  // namespace vsim::gpu::device
