#include <algorithm>

#include "core/model/costs_builder.h"

namespace vsim::core {
namespace {

/// Bytes of the activations that a layer's temporaries are made of.
struct Sizes {
  Bytes hidden;                     // tokens x hidden
  Bytes query, key, value, output;  // of the attention kernel
  Bytes mlp;                        // tokens x width of a dense (or shared) MLP
  Bytes rows, rowMlp;               // routed rows x hidden, routed rows x expert width
  Bytes scores;                     // normalised router scores, fp32
  Bytes routing;                    // router probabilities, indices, scores
  bool gated, moe, shared;
};

Sizes sizesOf(const CostBuilder& b) {
  const ModelConfig& c = b.config;
  const std::int64_t tp = b.work.tensorParallel, n = b.tokens;
  Sizes s{};
  s.gated = c.mlp == MlpKind::gated;
  s.moe = c.isMoe(b.layer);
  s.hidden = b.element * n * c.hidden;
  const bool mla = c.attention == AttentionKind::mla;
  const std::int64_t kv = mla || c.kvHeads == 0 ? c.heads : c.kvHeads;
  const std::int64_t qk = mla ? c.qkNopeDim + c.qkRopeDim : c.headDim;
  const std::int64_t v = c.headDimValue > 0 ? c.headDimValue : mla ? c.qkNopeDim : c.headDim;
  s.query = b.element * n * (c.heads / tp) * qk;
  s.key = b.element * n * (kv / tp) * qk;
  s.value = b.element * n * (kv / tp) * v;
  s.output = b.element * n * (c.heads / tp) * v;
  const std::int64_t sharedWidth =
      c.sharedIntermediate > 0 ? c.sharedIntermediate : c.sharedExperts * c.expertIntermediate;
  s.shared = s.moe && sharedWidth > 0;
  s.mlp = b.element * n * ((s.moe ? sharedWidth : c.intermediate) / tp);
  if (s.moe) {
    s.rows = b.element * routedRows(b) * c.hidden;
    s.rowMlp = b.element * routedRows(b) * c.expertIntermediate;
    s.scores = 4 * routedRows(b);
    s.routing = 4 * n * c.experts + routedRows(b) * (3 * 8 + 4 + b.element);
  }
  return s;
}

Bytes forwardKeepingAll(const Sizes& s) {
  // A branch's output before it is added to the residual; with shared experts both branches' outputs. The
  // router's normalised scores live until the rows are summed.
  return s.hidden * (s.shared ? 2 : 1) + s.scores;
}

/// Under checkpointing nothing (or little) is kept: the widest moment decides.
Bytes forwardDropping(const Sizes& s, bool gateAndUpKept) {
  const Bytes attention = s.hidden + s.query + s.key + s.value + std::max(s.output, s.query + s.key);
  const Bytes widths = (s.gated ? 3 : 2) - (gateAndUpKept ? 1 : 0);
  Bytes mlp = 2 * s.hidden + widths * s.mlp;
  if (s.moe) {
    // Gathered rows beside the widths; later gathered, computed, ordered and scored rows at once.
    const Bytes routed = std::max(s.rows + widths * s.rowMlp, 4 * s.rows) + s.routing;
    mlp = std::max(mlp + s.hidden, 2 * s.hidden + routed);
  }
  return std::max(attention, mlp);
}

Bytes backwardOf(const CostBuilder& b, const Sizes& s) {
  const ModelConfig& c = b.config;
  // MLP, at the product's gradient: two new widths beside the incoming one, over the gradient that waits at
  // the residual.
  Bytes peak = s.hidden + (s.gated ? 3 : 2) * s.mlp + (s.shared ? s.hidden : 0);
  if (s.moe) {
    // Gradient of the scored rows, of the expert rows, and their product with the expert rows whose sums
    // are the scores' gradients; later two row gradients (gate and up) beside two widths.
    const Bytes scores = 3 * s.rows + b.element * routedRows(b);
    peak = std::max(peak, s.hidden + std::max(scores, 2 * s.rows + 2 * s.rowMlp));
  }
  // Attention kernel: incoming, dq, dk, dv, and the kernel's own scratch: an fp32 accumulator of dq, row
  // sums, and dk and dv for every query head when heads share keys (FlashAttention-2's backward).
  const std::int64_t heads = c.heads / b.work.tensorParallel;
  Bytes scratch = 4 * s.query / b.element + 4 * b.tokens * heads;
  if (s.key < s.query) scratch += s.query + s.output;
  peak = std::max(peak, s.hidden + s.output + s.query + s.key + s.value + scratch);
  if (c.norm == NormKind::rms && !b.work.fusedNorm)
    peak = std::max(peak, 2 * s.hidden + 12 * b.tokens * c.hidden);
  return peak;
}

}  // namespace

void setLayerTransients(CostBuilder& b) {
  const Sizes s = sizesOf(b);
  ModuleCosts& out = b.out();
  out.inputBytes = out.outputBytes = s.hidden;
  switch (b.work.checkpointing) {
    case Checkpointing::none:
      out.forwardTransient = forwardKeepingAll(s);
      break;
    case Checkpointing::selective:
      out.forwardTransient = forwardDropping(s, true);
      break;
    case Checkpointing::full:
      out.forwardTransient = forwardDropping(s, false);
      break;
  }
  out.backwardTransient = backwardOf(b, s);
}

}  // namespace vsim::core
