#include <algorithm>

#include "core/model/costs_builder.h"

namespace vsim::core {
namespace {

/// Bytes per logit (bf16 logits) of one loss evaluation and its gradient, and what lives meanwhile.
/// Eager: cast to fp32 (2 + 4), log-softmax (4 + 4); gradient of log-softmax (8 + 4), cast back (4 + 2).
/// unfusedFp32: the same, evaluated once more for the metrics (14), and the zero-filled gradient of the
/// negative log-likelihood (4). Compiled: maximum and sum read the logits, the gradient reads and writes
/// them. Fused: one read; the gradient reads and overwrites the logits.
struct LossTraffic {
  std::int64_t read, written, backwardRead, backwardWritten;
  int launches, backwardLaunches;
};

LossTraffic lossTraffic(const WorkShape& work) {
  if (work.loss == LossKernel::unfusedFp32) return {12, 16, 12, 10, 5, 3};
  if (work.loss == LossKernel::fused) return {2, 0, 2, 2, 1, 1};
  if (work.compiled) return {6, 0, 4, 4, 2, 1};
  return {6, 8, 12, 6, 3, 2};
}

void lossOperations(CostBuilder& b, std::int64_t logits) {
  const LossTraffic t = lossTraffic(b.work);
  b.step();
  Operation op;
  op.memoryOp = MemoryOp::loss;
  op.dtype = b.work.loss == LossKernel::fused ? b.activation : DType::fp32;
  op.name = "loss";
  op.count = t.launches;
  op.bytesRead = t.read * logits;
  op.bytesWritten = t.written * logits;
  b.forward(op, Replay::no);
  op.name = "loss.bwd";
  op.count = t.backwardLaunches;
  op.bytesRead = t.backwardRead * logits;
  op.bytesWritten = t.backwardWritten * logits;
  b.backward(std::move(op));
}

}  // namespace

void addEmbedding(CostBuilder& b) {
  const ModelConfig& c = b.config;
  const std::int64_t n = b.tokens, batch = b.work.microBatch, sequence = b.work.sequence;
  const std::int64_t vocabulary = c.vocabulary / b.work.tensorParallel;
  const Bytes rows = b.element * n * c.hidden, indices = 8 * n, table = b.element * vocabulary * c.hidden;
  // The gradient is dense: the whole table is zeroed, then rows are added into it.
  b.memory("embedding", MemoryOp::embedding, rows + indices, rows, 2 * rows + indices, table + rows,
           Replay::no);
  b.saveInput("tokens", {batch, sequence}, DType::int64);
  Bytes transient = 0;
  if (c.position == PositionKind::learned) {
    const Bytes positions = b.element * c.maxPositions * c.hidden;
    b.memory("position_embedding", MemoryOp::embedding, rows + indices, rows, 2 * rows + indices,
             positions + rows, Replay::no);
    b.memory("position_add", MemoryOp::elementwise, 2 * rows, rows, 0, 0, Replay::no);
    transient = 2 * rows;
  }
  if (c.embeddingNorm) {
    addNorm(b, "embedding_norm", {"embedding.output"}, {batch, sequence, c.hidden});
    transient = std::max(transient, rows);
  }
  if (c.tiedEmbeddings) {
    // The head's gradient of the shared table is already there: the two are added.
    Operation add;
    add.memoryOp = MemoryOp::elementwise;
    add.dtype = b.activation;
    add.name = "tied_grad_add";
    add.bytesRead = 2 * table;
    add.bytesWritten = table;
    b.backward(std::move(add));
  }
  ModuleCosts& out = b.out();
  out.inputBytes = indices;
  out.outputBytes = rows;
  out.forwardTransient = transient;
  out.backwardTransient = rows * (c.embeddingNorm ? 2 : 1);
}

void addFinalNorm(CostBuilder& b) {
  const std::vector<std::int64_t> shape{b.work.microBatch, b.work.sequence, b.config.hidden};
  const Bytes rows = b.element * b.tokens * b.config.hidden;
  const bool written = b.config.norm == NormKind::rms && !b.work.fusedNorm;
  addNorm(b, "final_norm", {"input", true}, shape);
  ModuleCosts& out = b.out();
  out.inputBytes = out.outputBytes = rows;
  out.forwardTransient = written ? 8 * b.tokens * b.config.hidden : 0;
  out.backwardTransient = 2 * rows + (written ? 12 * b.tokens * b.config.hidden : 0);
}

void addHeadAndLoss(CostBuilder& b) {
  const ModelConfig& c = b.config;
  const std::int64_t n = b.tokens, vocabulary = c.vocabulary / b.work.tensorParallel;
  const std::int64_t logits = n * vocabulary;
  b.linear("head", {"input", true}, c.hidden, vocabulary, false);
  lossOperations(b, logits);

  const bool inFp32 =
      b.work.loss == LossKernel::unfusedFp32 || (b.work.loss == LossKernel::eager && !b.work.compiled);
  if (inFp32) {
    b.save("log_probabilities", {n, vocabulary}, DType::fp32);
    b.save("log_probabilities", {n, vocabulary}, DType::fp32);
    b.saveInput("labels", {n}, DType::int64);
    b.save("loss.total_weight", {}, DType::fp32);
  } else {
    b.save("head.output", {n, vocabulary}, b.activation);
    b.saveInput("labels", {n}, DType::int64);
    b.save("loss.lse", {n}, DType::fp32);
  }

  ModuleCosts& out = b.out();
  const Bytes rows = b.element * n * c.hidden, inElement = b.element * logits;
  out.inputBytes = rows;
  out.outputBytes = 4;
  out.logitsBytes = inElement;
  if (inFp32) {
    // Forward: logits, their fp32 copy, (saved) log-probabilities; metrics hold a second pair. Backward: the
    // gradients of log-likelihood and of log-softmax beside the saved log-probabilities.
    out.forwardTransient = inElement + (b.work.loss == LossKernel::unfusedFp32 ? 12 : 4) * logits;
    out.backwardTransient = 8 * logits;
  } else if (b.work.loss == LossKernel::fused) {
    out.backwardTransient = rows;  // the gradient overwrites the logits
  } else {
    out.backwardTransient = inElement + rows;
  }
}

}  // namespace vsim::core
