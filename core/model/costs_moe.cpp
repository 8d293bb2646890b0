#include "core/base/checked.h"
#include "core/model/costs_builder.h"

namespace vsim::core {
namespace {

/// Router: projection, softmax (or sigmoid) over the experts in fp32, top-k, normalised scores.
void addRouter(CostBuilder& b, const ActivationRef& input) {
  const ModelConfig& c = b.config;
  const std::int64_t n = b.tokens, k = c.expertsPerToken;
  b.linear("router", input, c.hidden, c.experts, c.routerBias, Replay::selective);
  const Bytes logits = n * c.experts, chosen = n * k;
  // Softmax: read logits, write fp32; top-k: read fp32, write scores and int64 indices; normalise.
  b.memory("router_topk", MemoryOp::softmax, (b.element + 4) * logits + 4 * chosen,
           4 * logits + (4 + 8 + 4) * chosen, 8 * logits + 12 * chosen, (4 + b.element) * logits,
           Replay::selective, 4);
  b.save("router.probabilities", {n, c.experts}, DType::fp32);
  b.save("router.indices", {n, k}, DType::int64);
  b.save("router.sum", {n, 1}, DType::fp32);
  b.save("router.scores", {n, k}, DType::fp32);
}

/// Copies `rows` rows into another order; the gradient copies them back.
void addReorder(CostBuilder& b, const std::string& name, std::int64_t rows, Replay replay) {
  const Bytes moved = b.element * rows * b.config.hidden;
  b.memory(name, MemoryOp::permute, moved + 8 * rows, moved, moved + 8 * rows, moved, replay);
}

void addExperts(CostBuilder& b, std::int64_t rows, std::int64_t groups) {
  const ModelConfig& c = b.config;
  const std::int64_t width = c.expertIntermediate, perExpert = ceilDivide(rows, groups);
  const ActivationRef gathered{"moe.rows"};
  const ActivationTraffic t = activationTraffic(b);
  const Bytes elements = rows * width;
  if (c.mlp == MlpKind::plain) {
    b.grouped("expert_up", gathered, groups, rows, c.hidden, width, c.expertBias);
  } else if (c.fusedExperts) {
    b.grouped("expert_gate_up", gathered, groups, rows, c.hidden, 2 * width, c.expertBias);
  } else {
    b.grouped("expert_gate", gathered, groups, rows, c.hidden, width, c.expertBias);
    b.grouped("expert_up", gathered, groups, rows, c.hidden, width, c.expertBias);
  }
  b.memory("expert_act", MemoryOp::activation, t.read * elements, t.written * elements,
           t.backwardRead * elements, t.backwardWritten * elements, Replay::selective, t.launches);
  if (c.mlp == MlpKind::plain) {
    b.save("expert_up.output", {groups, perExpert, width}, b.activation);
  } else if (c.fusedExperts) {
    b.save("expert_gate_up.output", {groups, perExpert, 2 * width}, b.activation);
    b.save("expert_act.silu", {groups, perExpert, width}, b.activation);
  } else {
    b.save("expert_gate.output", {groups, perExpert, width}, b.activation);
    b.save("expert_up.output", {groups, perExpert, width}, b.activation);
    b.save("expert_act.silu", {groups, perExpert, width}, b.activation);
  }
  b.grouped("expert_down", {"expert_act.output"}, groups, rows, width, c.hidden, c.expertBias);
}

/// Scores times expert rows, summed into the tokens.
void addUnpermute(CostBuilder& b, std::int64_t rows) {
  const Bytes moved = b.element * rows * b.config.hidden;
  const Bytes token = b.element * b.tokens * b.config.hidden;
  // Forward: product with the score (read, write), zero the sum, add every row into it (read row and sum,
  // write sum). Backward: gather the rows' gradient, product with scores, product with rows and its sum.
  b.memory("moe_unpermute", MemoryOp::permute, 3 * moved + 8 * rows, 2 * moved + token, 4 * moved + 8 * rows,
           3 * moved, Replay::selective, 3);
  b.save("moe.order", {rows}, DType::int64);
  b.save("moe.row_scores", {rows, 1}, b.activation);
  b.save("moe.expert_rows", {rows, b.config.hidden}, b.activation);
  b.save("moe.token_index", {rows}, DType::int64);
  b.save("moe.scored_rows", {rows, b.config.hidden}, b.activation);
}

void addSharedExperts(CostBuilder& b, const ActivationRef& input) {
  const ModelConfig& c = b.config;
  const std::int64_t whole =
      c.sharedIntermediate > 0 ? c.sharedIntermediate : c.sharedExperts * c.expertIntermediate;
  if (whole == 0) return;
  addMlp(b, "shared_", input, whole / b.work.tensorParallel, false, false);
  const Bytes row = b.element * b.tokens * c.hidden;
  if (c.sharedExpertGate) {
    b.linear("shared_gate", input, c.hidden, 1, false, Replay::selective);
    b.memory("shared_gate_mul", MemoryOp::activation, row, row, 2 * row, row, Replay::selective);
    b.save("shared_gate.score", {b.tokens, 1}, b.activation);
    b.save("shared_down_proj.output", {b.tokens, c.hidden}, b.activation);
  }
  b.memory("shared_add", MemoryOp::residual, 2 * row, row, 0, 0, Replay::no);
}

}  // namespace

std::int64_t routedRows(const CostBuilder& b) {
  return ceilDivide(b.tokens * b.config.expertsPerToken, b.work.tensorParallel);
}

void addMoe(CostBuilder& b, const ActivationRef& input) {
  const bool parallel = b.work.expertParallel > 1;
  const std::int64_t rows = routedRows(b), groups = b.config.experts / b.work.expertParallel;
  addRouter(b, input);
  // What an all-to-all delivered is kept under selective checkpointing, so that none is repeated.
  addReorder(b, "moe_permute", rows, parallel ? Replay::no : Replay::selective);
  b.save("moe.token_index", {rows}, DType::int64);
  if (parallel) {
    b.out().dispatchBytes = b.element * rows * b.config.hidden;
    b.markDispatch();
    b.keepSelective("moe.dispatched", {rows, b.config.hidden});
    addReorder(b, "moe_local_permute", rows, Replay::selective);
    b.markBackwardDispatch();
    b.save("moe.local_order", {rows}, DType::int64);
  }
  addExperts(b, rows, groups);
  if (parallel) {
    addReorder(b, "moe_local_unpermute", rows, Replay::no);
    b.save("moe.local_inverse", {rows}, DType::int64);
    b.markCombine();
    b.keepSelective("moe.expert_rows", {rows, b.config.hidden});
  }
  addUnpermute(b, rows);
  if (parallel) b.markBackwardCombine();
  addSharedExperts(b, input);
}

}  // namespace vsim::core
