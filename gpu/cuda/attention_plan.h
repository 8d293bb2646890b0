#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/base/dtype.h"
#include "gpu/cuda/product.h"
#include "gpu/device/api.h"

namespace vsim::gpu::cuda {

/// Attention as products and a softmax. Query heads that share a key/value head are the rows of one matrix: a
/// unit has group x sequence rows and one set of keys. Scores are worked on in passes, so that they take
/// bounded memory: several units at once, or a part of the rows of one.

/// Most bytes that the scores of a pass may take.
inline constexpr std::int64_t kScoreBytes = std::int64_t{512} << 20U;
/// Rows of a pass that is a part of a unit: the height of a tile of the library's products.
inline constexpr std::int64_t kRowTile = 128;

/// Rows [row, row + rows) of each of `units` units from `unit` on, against `columns` keys from the first on.
struct AttentionPass {
  std::int64_t unit = 0, units = 1, row = 0, rows = 0, columns = 0;
  bool first = false;  // of its units: gradients of keys and values begin here
};

struct AttentionPlan {
  core::DType dtype = core::DType::bf16;
  std::int64_t sequence = 0, units = 0, rowsOfUnit = 0;
  std::int64_t width = 0, valueWidth = 0;  // of a head
  std::int64_t pitch = 0;                  // elements from row to row of the scores
  std::int64_t window = 0;
  bool causal = true, backward = false;
  float scale = 1;
  /// Bytes before each array. Arrays: [unit][row][width]; keys and values [unit][sequence][width]. `scores`
  /// and `scoreGradients`: [units of the pass][rows of the pass][pitch].
  std::int64_t query = 0, key = 0, value = 0, outputGradient = 0, operandBytes = 0;  // only read
  std::int64_t output = 0, queryGradient = 0, keyGradient = 0, valueGradient = 0, scores = 0,
               scoreGradients = 0, resultBytes = 0;
  std::vector<AttentionPass> passes{};
};

namespace attention_plan {

inline void placeArrays(AttentionPlan& plan, std::int64_t scoreBytes) {
  const auto placeIn = [](std::int64_t& all, std::int64_t& where, std::int64_t bytes) {
    where = all;
    all += (bytes + 255) / 256 * 256;
  };
  const auto operand = [&](std::int64_t& where, std::int64_t bytes) {
    placeIn(plan.operandBytes, where, bytes);
  };
  const auto result = [&](std::int64_t& where, std::int64_t bytes) {
    placeIn(plan.resultBytes, where, bytes);
  };
  const std::int64_t element = core::bytesOf(plan.dtype), rows = plan.units * plan.rowsOfUnit;
  const std::int64_t keys = plan.units * plan.sequence;
  operand(plan.query, rows * plan.width * element);
  operand(plan.key, keys * plan.width * element);
  operand(plan.value, keys * plan.valueWidth * element);
  if (plan.backward) {
    operand(plan.outputGradient, rows * plan.valueWidth * element);
    result(plan.queryGradient, rows * plan.width * element);
    result(plan.keyGradient, keys * plan.width * element);
    result(plan.valueGradient, keys * plan.valueWidth * element);
    result(plan.scoreGradients, scoreBytes);
  } else {
    result(plan.output, rows * plan.valueWidth * element);
  }
  result(plan.scores, scoreBytes);
}

/// Keys that rows [row, row + rows) of a unit see: all of them unless the rows are of one head.
inline std::int64_t columnsOf(const AttentionPlan& plan, std::int64_t row, std::int64_t rows) {
  const std::int64_t last = row + rows - 1;
  if (!plan.causal || row / plan.sequence != last / plan.sequence) return plan.sequence;
  return std::min(plan.sequence, (last % plan.sequence + 8) / 8 * 8);
}

}  // namespace attention_plan

/// `scoreBytes`: what the scores of a pass may take; a row tile is the least.
inline AttentionPlan planAttention(const device::AttentionCall& call, std::int64_t scoreBytes = kScoreBytes) {
  AttentionPlan plan{.dtype = call.dtype, .sequence = call.sequence};
  plan.units = call.batch * call.kvHeads;
  plan.rowsOfUnit = call.heads / call.kvHeads * call.sequence;
  plan.width = call.headDim;
  plan.valueWidth = call.headDimValue > 0 ? call.headDimValue : call.headDim;
  plan.pitch = (call.sequence + 7) / 8 * 8;
  plan.window = call.window;
  plan.causal = call.causal;
  plan.backward = call.backward;
  plan.scale = 1.0F / std::sqrt(static_cast<float>(std::max<std::int64_t>(1, call.headDim)));
  if (plan.units <= 0 || plan.rowsOfUnit <= 0) return plan;

  const std::int64_t rowBytes = plan.pitch * core::bytesOf(plan.dtype);
  std::int64_t rows = std::min(plan.rowsOfUnit, scoreBytes / rowBytes), units = 1;
  if (rows == plan.rowsOfUnit) {
    constexpr std::int64_t kMostUnits = 32'768;  // batches are counted in 16 bits inside some kernels
    units = std::clamp<std::int64_t>(scoreBytes / rowBytes / rows, 1, std::min(plan.units, kMostUnits));
  } else {
    rows = std::min(plan.rowsOfUnit, std::max(kRowTile, rows / kRowTile * kRowTile));
  }
  attention_plan::placeArrays(plan, units * rows * rowBytes);
  for (std::int64_t unit = 0; unit < plan.units; unit += units) {
    const std::int64_t now = std::min(units, plan.units - unit);
    // Last rows first: they see every key, so that the first pass writes whole gradients of keys and values.
    for (std::int64_t end = plan.rowsOfUnit; end > 0; end -= std::min(end, rows)) {
      const std::int64_t count = std::min(end, rows), row = end - count;
      AttentionPass pass{.unit = unit, .units = now, .row = row, .rows = count, .columns = plan.sequence};
      pass.first = end == plan.rowsOfUnit;
      if (!pass.first) pass.columns = attention_plan::columnsOf(plan, row, count);
      plan.passes.push_back(pass);
    }
  }
  return plan;
}

/// The softmax of a pass, or its gradient: row r of the pass is query (row + r) % sequence.
struct SoftmaxCall {
  core::DType dtype = core::DType::bf16;
  void* scores = nullptr;     // probabilities after the forward call
  void* gradients = nullptr;  // of the probabilities, then of the scores; null: forward
  std::int64_t units = 1, rows = 0, columns = 0, pitch = 0, firstRow = 0, sequence = 0, window = 0;
  bool causal = true;
  float scale = 1;
};

/// One pass of `plan`.
template <class Backend>
class AttentionRun {
 public:
  AttentionRun(const AttentionPlan& plan, const AttentionPass& pass, const void* operands, void* results,
               Backend& backend)
      : plan_(plan), pass_(pass), backend_(backend) {
    const std::int64_t row = pass.unit * plan.rowsOfUnit + pass.row, key = pass.unit * plan.sequence;
    query_ = rows(operands, plan.query, row, plan.width);
    outputGradient_ = rows(operands, plan.outputGradient, row, plan.valueWidth);
    key_ = keys(operands, plan.key, key, plan.width);
    value_ = keys(operands, plan.value, key, plan.valueWidth);
    output_ = rows(results, plan.output, row, plan.valueWidth);
    queryGradient_ = rows(results, plan.queryGradient, row, plan.width);
    keyGradient_ = keys(results, plan.keyGradient, key, plan.width);
    valueGradient_ = keys(results, plan.valueGradient, key, plan.valueWidth);
    scores_ = {at(results, plan.scores, 0), plan.pitch, pass.rows * plan.pitch};
    gradients_ = {at(results, plan.scoreGradients, 0), plan.pitch, pass.rows * plan.pitch};
  }

  device::Status forward() {
    device::Status status = probabilities();
    return status.ok() ? rowsOf(scores_, value_, output_) : status;
  }

  device::Status backward() {
    device::Status status = probabilities();
    if (status.ok()) status = scoresOf(outputGradient_, value_, gradients_);
    if (status.ok()) status = keysOf(scores_, outputGradient_, valueGradient_);
    if (status.ok()) status = softmax(gradients_.memory);
    if (status.ok()) status = rowsOf(gradients_, key_, queryGradient_);
    if (status.ok()) status = keysOf(gradients_, query_, keyGradient_);
    return status;
  }

 private:
  template <class Memory>  // void, or const void
  struct Array {
    Memory* memory = nullptr;
    std::int64_t width = 0, stride = 0;  // elements of a row, and from unit to unit
  };
  struct Operand : Array<const void> {
    Operand() = default;
    Operand(const Array<const void>& array) : Array<const void>(array) {}
    Operand(const Array<void>& result) : Array<const void>{result.memory, result.width, result.stride} {}
  };
  using Result = Array<void>;

  template <class Memory>
  [[nodiscard]] Memory* at(Memory* memory, std::int64_t array, std::int64_t elements) const {
    using Byte = std::conditional_t<std::is_const_v<Memory>, const char, char>;
    return static_cast<Byte*>(memory) + array + elements * core::bytesOf(plan_.dtype);
  }
  template <class Memory>
  [[nodiscard]] Array<Memory> rows(Memory* memory, std::int64_t array, std::int64_t row,
                                   std::int64_t width) const {
    return {at(memory, array, row * width), width, plan_.rowsOfUnit * width};
  }
  template <class Memory>
  [[nodiscard]] Array<Memory> keys(Memory* memory, std::int64_t array, std::int64_t key,
                                   std::int64_t width) const {
    return {at(memory, array, key * width), width, plan_.sequence * width};
  }

  device::Status multiply(Product p, const Operand& a, const Operand& b, const Result& d) {
    p.inputs = p.outputs = plan_.dtype;
    p.batch = pass_.units;
    p.pitchA = a.width, p.pitchB = b.width, p.pitchD = d.width;
    p.strideA = a.stride, p.strideB = b.stride, p.strideD = d.stride;
    return backend_.multiply(p, Matrices{.a = a.memory, .b = b.memory, .c = d.memory, .d = d.memory});
  }
  /// rows x columns = (rows x width) (columns x width)'
  device::Status scoresOf(const Operand& a, const Operand& b, const Result& d) {
    return multiply({.m = pass_.rows, .n = pass_.columns, .k = a.width, .transposeB = true}, a, b, d);
  }
  /// rows x width = (rows x columns) (columns x width)
  device::Status rowsOf(const Operand& a, const Operand& b, const Result& d) {
    return multiply({.m = pass_.rows, .n = d.width, .k = pass_.columns}, a, b, d);
  }
  /// columns x width (+)= (rows x columns)' (rows x width)
  device::Status keysOf(const Operand& a, const Operand& b, const Result& d) {
    const float beta = pass_.first ? 0.0F : 1.0F;
    return multiply({.m = pass_.columns, .n = d.width, .k = pass_.rows, .transposeA = true, .beta = beta}, a,
                    b, d);
  }
  device::Status softmax(void* gradients) {
    SoftmaxCall call{.dtype = plan_.dtype, .scores = scores_.memory, .gradients = gradients};
    call.units = pass_.units, call.rows = pass_.rows, call.columns = pass_.columns;
    call.pitch = plan_.pitch, call.firstRow = pass_.row, call.sequence = plan_.sequence;
    call.window = plan_.window, call.causal = plan_.causal, call.scale = plan_.scale;
    return backend_.softmax(call);
  }
  device::Status probabilities() {
    device::Status status = scoresOf(query_, key_, scores_);
    return status.ok() ? softmax(nullptr) : status;
  }

  const AttentionPlan& plan_;
  const AttentionPass& pass_;
  Backend& backend_;
  Operand query_, key_, value_, outputGradient_;
  Result output_, queryGradient_, keyGradient_, valueGradient_, scores_, gradients_;
};

/// Runs `plan`. Backend: `Status multiply(const Product&, const Matrices&)` and
/// `Status softmax(const SoftmaxCall&)`.
template <class Backend>
device::Status runAttention(const AttentionPlan& plan, const void* operands, void* results,
                            Backend&& backend) {
  for (const AttentionPass& pass : plan.passes) {
    AttentionRun run(plan, pass, operands, results, backend);
    device::Status status = plan.backward ? run.backward() : run.forward();
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace vsim::gpu::cuda
