#include <algorithm>

#include "core/model/costs_builder.h"

namespace vsim::core {
namespace {

/// Sizes of this rank's attention.
struct Heads {
  std::int64_t query, kv;    // heads
  std::int64_t dimQk, dimV;  // of one head
  std::int64_t queryWidth() const { return query * dimQk; }
  std::int64_t keyWidth() const { return kv * dimQk; }
  std::int64_t valueWidth() const { return kv * dimV; }
  std::int64_t outputWidth() const { return query * dimV; }
};

Heads headsOf(const CostBuilder& b) {
  const ModelConfig& c = b.config;
  const std::int64_t tp = b.work.tensorParallel;
  if (c.attention == AttentionKind::mla)
    return {c.heads / tp, c.heads / tp, c.qkNopeDim + c.qkRopeDim,
            c.headDimValue > 0 ? c.headDimValue : c.qkNopeDim};
  const std::int64_t kv = c.kvHeads > 0 ? c.kvHeads : c.heads;
  return {c.heads / tp, kv / tp, c.headDim, c.headDimValue > 0 ? c.headDimValue : c.headDim};
}

/// (query, key) pairs that a causal kernel with this window computes for one head of one sequence.
double causalPairs(std::int64_t sequence, std::int64_t window) {
  const auto s = static_cast<double>(sequence);
  const double w = window > 0 && window < sequence ? static_cast<double>(window) : s;
  return w * (w + 1) / 2 + (s - w) * w;
}

Operation attentionKernel(const CostBuilder& b, const Heads& h, bool backward) {
  Operation op;
  op.kind = backward ? OpKind::attentionBackward : OpKind::attentionForward;
  op.dtype = b.activation;
  op.name = backward ? "attention.bwd" : "attention";
  op.batch = b.work.microBatch;
  op.sequence = b.work.sequence;
  op.heads = h.query;
  op.kvHeads = h.kv;
  op.headDim = h.dimQk;
  op.headDimValue = h.dimV;
  op.window = b.config.isWindowed(b.layer) ? b.config.slidingWindow : 0;
  // Forward: q k^T and p v. Backward: q k^T again, dv, dp, dq, dk (Dao, FlashAttention-2, section 3.1.2).
  const auto qk = static_cast<double>(h.dimQk), v = static_cast<double>(h.dimV);
  const double perPair = 2.0 * (backward ? 3 * qk + 2 * v : qk + v);
  const double headsTotal = static_cast<double>(op.batch) * static_cast<double>(op.heads);
  const auto s = static_cast<double>(op.sequence);
  op.flops = perPair * headsTotal * s * s;
  op.causalFlops = perPair * headsTotal * causalPairs(op.sequence, op.window);
  const Bytes inputs = b.element * b.tokens * (h.queryWidth() + h.keyWidth() + h.valueWidth());
  const Bytes output = b.element * b.tokens * h.outputWidth();
  const Bytes logsumexp = 4 * b.tokens * h.query;
  op.bytesRead = backward ? inputs + 2 * output + logsumexp : inputs;
  op.bytesWritten = backward ? inputs : output + logsumexp;
  return op;
}

/// Projections to q, k, v. Returns the names of the activations that the attention kernel reads.
struct Projected {
  std::string query, key, value;
  std::int64_t valueStorage = 0;  // width of the projection that the values are a view of; 0: of their own
};

Projected projectMla(CostBuilder& b, const ActivationRef& input, const Heads& h) {
  const ModelConfig& c = b.config;
  const std::int64_t batch = b.work.microBatch, sequence = b.work.sequence;
  if (c.qLoraRank > 0) {
    b.linear("q_a_proj", input, c.hidden, c.qLoraRank, c.qkvBias);
    const ActivationRef normed = addNorm(b, "q_a_norm", {"q_a_proj.output"}, {batch, sequence, c.qLoraRank});
    b.linear("q_b_proj", normed, c.qLoraRank, h.queryWidth(), false);
  } else {
    b.linear("q_proj", input, c.hidden, h.queryWidth(), false);
  }
  b.linear("kv_a_proj", input, c.hidden, c.kvLoraRank + c.qkRopeDim, c.qkvBias);
  const ActivationRef normed = addNorm(b, "kv_a_norm", {"kv_a_proj.output"}, {batch, sequence, c.kvLoraRank});
  b.linear("kv_b_proj", normed, c.kvLoraRank, h.query * (c.qkNopeDim + h.dimV), false);
  return {"query", "key", "kv_b_proj.output", h.query * (c.qkNopeDim + h.dimV)};
}

Projected projectGrouped(CostBuilder& b, const ActivationRef& input, const Heads& h) {
  const ModelConfig& c = b.config;
  const std::int64_t query = h.queryWidth() * (c.attentionGate ? 2 : 1);
  if (c.fusedQkv) {
    const std::int64_t width = query + h.keyWidth() + h.valueWidth();
    b.linear("qkv_proj", input, c.hidden, width, c.qkvBias);
    // Rotated queries and keys are new; the values stay a view that holds the whole projection. Models
    // without rotation copy all three.
    if (c.position == PositionKind::rotary) return {"query", "key", "qkv_proj.output", width};
    return {"query", "key", "value"};
  }
  b.linear("q_proj", input, c.hidden, query, c.qkvBias);
  b.linear("k_proj", input, c.hidden, h.keyWidth(), c.qkvBias);
  b.linear("v_proj", input, c.hidden, h.valueWidth(), c.qkvBias);
  return {"query", "key", "v_proj.output"};
}

void addQkNorm(CostBuilder& b, const Heads& h) {
  const std::int64_t batch = b.work.microBatch, sequence = b.work.sequence;
  const bool fused = b.config.fusedQkv;
  const auto shape = [&](std::int64_t heads) -> std::vector<std::int64_t> {
    if (b.config.qkNormFullWidth) return {batch, sequence, heads * h.dimQk};
    return {batch, sequence, heads, h.dimQk};
  };
  addNorm(b, "q_norm", {fused ? "qkv_proj.query" : "q_proj.output"}, shape(h.query));
  addNorm(b, "k_norm", {fused ? "qkv_proj.key" : "k_proj.output"}, shape(h.kv));
}

/// Rotary embedding, or the layout copies between projection and kernel of models without it. Eager rotary
/// embedding (apply_rotary_pos_emb of Hugging Face transformers: products with cos and sin, rotated half,
/// sum, transposition) moves about 28 bytes per bf16 element of q and k, one fused kernel a quarter; models
/// of the GPT kind copy q, k, v and the output (16 bytes per token and hidden element).
void addPositions(CostBuilder& b, const Heads& h) {
  const ModelConfig& c = b.config;
  const bool mla = c.attention == AttentionKind::mla;
  if (c.position != PositionKind::rotary) {
    const Bytes copies = 4 * b.element * b.tokens * h.queryWidth();
    b.memory("attention_layout", MemoryOp::copy, copies, copies, copies, copies, Replay::selective, 4);
    return;
  }
  const std::int64_t rotated = mla ? (h.query + 1) * c.qkRopeDim : h.queryWidth() + h.keyWidth();
  const Bytes half = b.element * b.tokens * rotated * 7 / (b.work.compiled ? 4 : 1);
  b.memory("rope", MemoryOp::rope, half, half, half, half, Replay::selective, b.work.compiled ? 1 : 10);
  const std::int64_t dim = mla ? c.qkRopeDim : h.dimQk;
  for (int i = 0; i < 2; ++i) {
    b.saveConstant("rotary.cos", {b.work.sequence, 1, dim}, b.activation);
    b.saveConstant("rotary.sin", {b.work.sequence, 1, dim}, b.activation);
  }
  if (!mla) return;
  // Queries and keys are put together from their parts without and with positions.
  const Bytes joined = b.element * b.tokens * (h.queryWidth() + h.keyWidth());
  b.memory("mla_concat", MemoryOp::copy, joined, joined, joined, joined, Replay::selective, 2);
}

void addKernel(CostBuilder& b, const Heads& h, const Projected& names) {
  const std::int64_t batch = b.work.microBatch, sequence = b.work.sequence;
  b.step();
  b.forward(attentionKernel(b, h, false), Replay::selective);
  b.backward(attentionKernel(b, h, true));
  b.save(names.key, {batch, h.kv, sequence, h.dimQk}, b.activation);
  b.save(names.query, {batch, h.query, sequence, h.dimQk}, b.activation);
  if (names.valueStorage > 0)
    b.save(names.value, {batch, sequence, names.valueStorage}, b.activation);
  else
    b.save(names.value, {batch, h.kv, sequence, h.dimV}, b.activation);
  b.save("attention.lse", {batch, h.query, sequence}, DType::fp32);
  b.save("attention.output", {batch, h.query, sequence, h.dimV}, b.activation);
  // Random state of the fused kernel: two 64-bit words and an unused scalar.
  b.save("attention.rng", {2}, DType::int64);
  b.save("attention.unused", {}, DType::int64);
}

}  // namespace

void addAttention(CostBuilder& b, const ActivationRef& input) {
  const ModelConfig& c = b.config;
  const Heads h = headsOf(b);
  const bool mla = c.attention == AttentionKind::mla;
  const Projected names = mla ? projectMla(b, input, h) : projectGrouped(b, input, h);
  if (c.qkNorm && !mla) addQkNorm(b, h);
  addPositions(b, h);
  addKernel(b, h, names);
  ActivationRef output{"attention.output"};
  if (c.attentionGate && !mla) {
    // output * sigmoid(gate)
    const Bytes width = b.element * b.tokens * h.outputWidth();
    b.memory("attention_gate", MemoryOp::activation, 3 * width, 2 * width, 5 * width, 3 * width,
             Replay::selective, 2);
    b.save("attention_gate.sigmoid", {b.work.microBatch, b.work.sequence, h.outputWidth()}, b.activation);
    b.save("attention.output", {b.work.microBatch, b.work.sequence, h.outputWidth()}, b.activation);
    output.name = "attention_gate.output";
  }
  b.linear("o_proj", output, h.outputWidth(), c.hidden, c.outputBias);
}

}  // namespace vsim::core
