#include "core/base/checked.h"
#include "core/model/costs_builder.h"

namespace vsim::core {
namespace {

// Block lengths of the reference implementations in Hugging Face transformers.
constexpr std::int64_t kDeltaChunk = 64;       // gated delta rule (qwen3-next)
constexpr std::int64_t kLightningBlock = 256;  // lightning attention, where the model does not say

struct LinearHeads {
  std::int64_t key, value, dimKey, dimValue;
  std::int64_t keyWidth() const { return key * dimKey; }
  std::int64_t valueWidth() const { return value * dimValue; }
};

LinearHeads linearHeads(const CostBuilder& b) {
  const ModelConfig& c = b.config;
  const auto either = [](std::int64_t a, std::int64_t otherwise) { return a > 0 ? a : otherwise; };
  const std::int64_t tp = b.work.tensorParallel;
  return {either(c.linearKeyHeads, c.heads) / tp, either(c.linearValueHeads, c.heads) / tp,
          either(c.linearKeyDim, c.headDim), either(c.linearValueDim, c.headDim)};
}

/// A small product per chunk and head, all in one batched launch; its gradient is two of the same size.
void chunkProduct(CostBuilder& b, const std::string& name, std::int64_t groups, std::int64_t m,
                  std::int64_t n, std::int64_t k) {
  b.step();
  const auto product = [&](const std::string& opName, std::int64_t pm, std::int64_t pn, std::int64_t pk) {
    Operation op;
    op.kind = OpKind::groupedGemm;
    op.dtype = b.activation;
    op.name = opName;
    op.groups = groups;
    op.m = groups * pm;
    op.n = pn;
    op.k = pk;
    op.flops = 2.0 * static_cast<double>(op.m) * static_cast<double>(pn) * static_cast<double>(pk);
    op.causalFlops = op.flops;
    op.bytesRead = b.element * groups * (pm * pk + pk * pn);
    op.bytesWritten = b.element * groups * pm * pn;
    return op;
  };
  b.forward(product(name, m, n, k), Replay::selective);
  b.backward(product(name + ".dleft", m, k, n));
  b.backward(product(name + ".dright", k, n, m));
}

/// Elementwise kernel with one read and one write per element, its gradient with two reads.
void pointwise(CostBuilder& b, const std::string& name, MemoryOp kind, std::int64_t width) {
  const Bytes row = b.element * b.tokens * width;
  b.memory(name, kind, row, row, 2 * row, row, Replay::selective);
}

void addCausalConvolution(CostBuilder& b, std::int64_t channels) {
  const std::int64_t kernel = b.config.linearConvKernel;
  const Bytes row = b.element * b.tokens * channels;
  b.step();
  Operation op;
  op.memoryOp = MemoryOp::elementwise;
  op.dtype = b.activation;
  op.name = "conv1d";
  op.bytesRead = row;
  op.bytesWritten = row;
  // The depthwise kernel is evaluated on the sequence padded by kernel - 1 on both sides and then cut.
  op.flops = 2.0 * static_cast<double>(b.work.microBatch) *
             static_cast<double>(b.work.sequence + kernel - 1) * static_cast<double>(channels) *
             static_cast<double>(kernel);
  op.causalFlops = op.flops;
  b.forward(op, Replay::selective);
  op.name += ".bwd";
  op.bytesRead = 2 * row;
  op.flops *= 2;
  op.causalFlops = op.flops;
  b.backward(op);
}

void addDeltaRule(CostBuilder& b, const ActivationRef& input, const LinearHeads& h) {
  const std::int64_t batch = b.work.microBatch, sequence = b.work.sequence, hidden = b.config.hidden;
  const std::int64_t channels = 2 * h.keyWidth() + h.valueWidth();
  b.linear("in_proj_qkvz", input, hidden, channels + h.valueWidth(), false);
  b.linear("in_proj_ba", input, hidden, 2 * h.value, false);
  addCausalConvolution(b, channels);
  b.save("in_proj_qkvz.output", {b.tokens, channels + h.valueWidth()}, b.activation);
  b.save("conv1d.output", {batch, channels, sequence}, b.activation);
  pointwise(b, "qk_l2norm", MemoryOp::norm, 2 * h.value * h.dimKey);
  b.save("delta.query", {batch, h.value, sequence, h.dimKey}, b.activation);
  b.save("delta.key", {batch, h.value, sequence, h.dimKey}, b.activation);
  b.save("delta.value", {batch, h.value, sequence, h.dimValue}, b.activation);

  const std::int64_t chunks = ceilDivide(sequence, kDeltaChunk), groups = batch * h.value * chunks;
  chunkProduct(b, "delta.kk", groups, kDeltaChunk, kDeltaChunk, h.dimKey);
  // (I + A)^-1 applied to values and decayed keys: a triangular solve inside each chunk.
  pointwise(b, "delta.solve", MemoryOp::elementwise, h.value * (kDeltaChunk + h.dimKey + h.dimValue));
  chunkProduct(b, "delta.qk", groups, kDeltaChunk, kDeltaChunk, h.dimKey);
  chunkProduct(b, "delta.k_state", groups, kDeltaChunk, h.dimValue, h.dimKey);
  chunkProduct(b, "delta.q_state", groups, kDeltaChunk, h.dimValue, h.dimKey);
  chunkProduct(b, "delta.qk_v", groups, kDeltaChunk, h.dimValue, kDeltaChunk);
  chunkProduct(b, "delta.state", groups, h.dimKey, h.dimValue, kDeltaChunk);
  b.save("delta.chunks", {groups, kDeltaChunk, kDeltaChunk + h.dimKey + h.dimValue}, b.activation);
  b.save("delta.states", {groups, h.dimKey, h.dimValue}, b.activation);

  addNorm(b, "gated_norm", {"delta.output"}, {batch, sequence, h.value, h.dimValue});
  pointwise(b, "output_gate_mul", MemoryOp::activation, 2 * h.valueWidth());
  b.linear("out_proj", {"linear_attention.output"}, h.valueWidth(), hidden, false);
}

void addLightning(CostBuilder& b, const ActivationRef& input, const LinearHeads& h) {
  const std::int64_t batch = b.work.microBatch, sequence = b.work.sequence, hidden = b.config.hidden;
  const std::int64_t width = 2 * h.keyWidth() + h.valueWidth();
  b.linear("qkv_proj", input, hidden, width, false);
  pointwise(b, "qkv_act", MemoryOp::activation, width);
  b.save("qkv_proj.output", {batch, sequence, width}, b.activation);
  b.save("qkv_act.output", {batch, sequence, width}, b.activation);

  const std::int64_t block = b.config.linearBlock > 0 ? b.config.linearBlock : kLightningBlock;
  const std::int64_t groups = batch * h.value * ceilDivide(sequence, block);
  chunkProduct(b, "lightning.qk", groups, block, block, h.dimKey);
  chunkProduct(b, "lightning.qk_v", groups, block, h.dimValue, block);
  chunkProduct(b, "lightning.q_state", groups, block, h.dimValue, h.dimKey);
  chunkProduct(b, "lightning.state", groups, h.dimKey, h.dimValue, block);
  b.save("lightning.scores", {groups, block, block}, b.activation);
  b.save("lightning.states", {groups, h.dimKey, h.dimValue}, b.activation);

  addNorm(b, "linear_norm", {"lightning.output"}, {batch, sequence, h.valueWidth()});
  b.linear("output_gate", input, hidden, h.valueWidth(), false);
  pointwise(b, "output_gate_mul", MemoryOp::activation, 2 * h.valueWidth());
  b.save("output_gate.output", {batch, sequence, h.valueWidth()}, b.activation);
  b.linear("out_proj", {"linear_attention.output"}, h.valueWidth(), hidden, false);
}

}  // namespace

void addLinearAttention(CostBuilder& b, const ActivationRef& input) {
  const LinearHeads heads = linearHeads(b);
  if (b.config.linear == LinearKind::gatedDelta)
    addDeltaRule(b, input, heads);
  else
    addLightning(b, input, heads);
}

}  // namespace vsim::core
