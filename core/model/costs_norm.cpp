#include "core/model/costs_builder.h"

namespace vsim::core {
namespace {

struct NormTraffic {
  std::int64_t halves;  // half bytes per element, so that quarters of odd counts stay integral
  int launches;
};

// Bytes per bf16 element. One fused kernel reads x and writes y; its gradient reads x and dy and writes dx.
// Written out in fp32 (cast, square, mean, scale, cast, weight: the kernels of Hugging Face's LlamaRMSNorm) a
// norm moves about 30, its gradient 45; a pointwise compiler brings that to about a quarter. Layer norms are
// one kernel in every framework.
constexpr NormTraffic kFusedForward{8, 1}, kFusedBackward{12, 1};
constexpr NormTraffic kWrittenForward{60, 6}, kWrittenBackward{90, 9};
constexpr NormTraffic kCompiledForward{15, 1}, kCompiledBackward{23, 1};

bool writtenOut(const CostBuilder& b) { return b.config.norm == NormKind::rms && !b.work.fusedNorm; }

void saveNorm(CostBuilder& b, const std::string& name, const ActivationRef& input,
              const std::vector<std::int64_t>& shape) {
  const std::int64_t width = shape.back();
  std::vector<std::int64_t> rows = shape;
  rows.back() = 1;
  if (writtenOut(b)) {
    b.save(name + ".float", shape, DType::fp32);
    b.save(name + ".rstd", rows, DType::fp32);
    b.save(name + ".rstd", rows, DType::fp32);
    b.save(name + ".float", shape, DType::fp32);
    b.saveConstant(name + ".weight", {width}, b.activation);
    b.save(name + ".scaled", shape, b.activation);
    return;
  }
  b.save(input, shape);
  b.saveConstant(name + ".weight", {width}, b.activation);
  if (b.config.norm != NormKind::rms) b.save(name + ".mean", rows, DType::fp32);
  b.save(name + ".rstd", rows, DType::fp32);
}

}  // namespace

ActivationRef addNorm(CostBuilder& b, const std::string& name, const ActivationRef& input,
                      const std::vector<std::int64_t>& inputShape, Replay replay) {
  std::int64_t elements = 1;
  for (const std::int64_t d : inputShape) elements *= d;
  const bool written = writtenOut(b);
  const NormTraffic f = !written ? kFusedForward : b.work.compiled ? kCompiledForward : kWrittenForward;
  const NormTraffic g = !written ? kFusedBackward : b.work.compiled ? kCompiledBackward : kWrittenBackward;
  // The counts are of bf16; other element sizes scale. Half of the traffic is reads, of gradients two thirds.
  const Bytes forwardBytes = elements * b.element * f.halves / 4;
  const Bytes backwardBytes = elements * b.element * g.halves / 4;
  b.step();
  Operation op;
  op.memoryOp = MemoryOp::norm;
  op.dtype = b.activation;
  op.name = name;
  op.count = f.launches;
  op.bytesWritten = forwardBytes / 2;
  op.bytesRead = forwardBytes - op.bytesWritten;
  b.forward(op, replay);
  op.name += ".bwd";
  op.count = g.launches;
  op.bytesWritten = backwardBytes / 3;
  op.bytesRead = backwardBytes - op.bytesWritten;
  b.backward(op);
  saveNorm(b, name, input, inputShape);
  return {name + ".output", false};
}

void addResidual(CostBuilder& b, const std::string& name, bool last) {
  // Backward: the gradient of the branch is added to the gradient that passes by.
  const Bytes row = b.element * b.tokens * b.config.hidden;
  b.memory(name, MemoryOp::residual, 2 * row, row, 2 * row, row, last ? Replay::no : Replay::selective);
}

}  // namespace vsim::core
