#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
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
  /// Bytes before each array in the scratch memory. Arrays: [unit][row][width]; keys and values
  /// [unit][sequence][width]. `scores` and `scoreGradients`: [units of the pass][rows of the pass][pitch].
  std::int64_t query = 0, key = 0, value = 0, output = 0, outputGradient = 0, queryGradient = 0,
               keyGradient = 0, valueGradient = 0, scores = 0, scoreGradients = 0, bytes = 0;
  std::vector<AttentionPass> passes{};
};

namespace attention_plan {

inline void placeArrays(AttentionPlan& plan, std::int64_t scoreBytes) {
  const auto place = [&plan](std::int64_t& where, std::int64_t bytes) {
    where = plan.bytes;
    plan.bytes += (bytes + 255) / 256 * 256;
  };
  const std::int64_t element = core::bytesOf(plan.dtype), rows = plan.units * plan.rowsOfUnit;
  const std::int64_t keys = plan.units * plan.sequence;
  place(plan.query, rows * plan.width * element);
  place(plan.key, keys * plan.width * element);
  place(plan.value, keys * plan.valueWidth * element);
  place(plan.output, rows * plan.valueWidth * element);
  if (plan.backward) {
    place(plan.outputGradient, rows * plan.valueWidth * element);
    place(plan.queryGradient, rows * plan.width * element);
    place(plan.keyGradient, keys * plan.width * element);
    place(plan.valueGradient, keys * plan.valueWidth * element);
    place(plan.scoreGradients, scoreBytes);
  }
  place(plan.scores, scoreBytes);
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

/// Runs `plan` on scratch memory at `data`. Backend: `Status multiply(const Product&, const Matrices&)` and
/// `Status softmax(const SoftmaxCall&)`.
template <class Backend>
device::Status runAttention(const AttentionPlan& plan, void* data, Backend&& backend) {
  const std::int64_t element = core::bytesOf(plan.dtype);
  const auto at = [&](std::int64_t array, std::int64_t elements) -> void* {
    return static_cast<char*>(data) + array + elements * element;
  };
  for (const AttentionPass& pass : plan.passes) {
    const std::int64_t row = pass.unit * plan.rowsOfUnit + pass.row, keyRow = pass.unit * plan.sequence;
    void* const query = at(plan.query, row * plan.width);
    void* const key = at(plan.key, keyRow * plan.width);
    void* const value = at(plan.value, keyRow * plan.valueWidth);
    void* const scores = at(plan.scores, 0);
    const std::int64_t queryStride = plan.rowsOfUnit * plan.width, keyStride = plan.sequence * plan.width;
    const std::int64_t outputStride = plan.rowsOfUnit * plan.valueWidth,
                       valueStride = plan.sequence * plan.valueWidth, scoreStride = pass.rows * plan.pitch;
    const Product base{.inputs = plan.dtype, .outputs = plan.dtype, .batch = pass.units};
    // rows x columns = (rows x width) (columns x width)'
    const auto scoresFrom = [&](std::int64_t width, std::int64_t strideA, std::int64_t strideB) {
      Product p = base;
      p.m = pass.rows, p.n = pass.columns, p.k = width;
      p.transposeB = true;
      p.pitchA = width, p.pitchB = width, p.pitchD = plan.pitch;
      p.strideA = strideA, p.strideB = strideB, p.strideD = scoreStride;
      return p;
    };
    // rows x width = (rows x columns) (columns x width)
    const auto rowsFrom = [&](std::int64_t width, std::int64_t strideB, std::int64_t strideD) {
      Product p = base;
      p.m = pass.rows, p.n = width, p.k = pass.columns;
      p.pitchA = plan.pitch, p.pitchB = width, p.pitchD = width;
      p.strideA = scoreStride, p.strideB = strideB, p.strideD = strideD;
      return p;
    };
    // columns x width (+)= (rows x columns)' (rows x width)
    const auto columnsFrom = [&](std::int64_t width, std::int64_t strideB, std::int64_t strideD) {
      Product p = base;
      p.m = pass.columns, p.n = width, p.k = pass.rows;
      p.transposeA = true;
      p.pitchA = plan.pitch, p.pitchB = width, p.pitchD = width;
      p.strideA = scoreStride, p.strideB = strideB, p.strideD = strideD;
      p.beta = pass.first ? 0.0F : 1.0F;
      return p;
    };
    SoftmaxCall softmax{.dtype = plan.dtype, .scores = scores, .units = pass.units, .rows = pass.rows};
    softmax.columns = pass.columns, softmax.pitch = plan.pitch, softmax.firstRow = pass.row;
    softmax.sequence = plan.sequence, softmax.window = plan.window;
    softmax.causal = plan.causal, softmax.scale = plan.scale;

    device::Status status = backend.multiply(scoresFrom(plan.width, queryStride, keyStride),
                                             Matrices{.a = query, .b = key, .c = scores, .d = scores});
    if (status.ok()) status = backend.softmax(softmax);
    if (!plan.backward) {
      void* const output = at(plan.output, row * plan.valueWidth);
      if (status.ok())
        status = backend.multiply(rowsFrom(plan.valueWidth, valueStride, outputStride),
                                  Matrices{.a = scores, .b = value, .c = output, .d = output});
      if (!status.ok()) return status;
      continue;
    }
    void* const outputGradient = at(plan.outputGradient, row * plan.valueWidth);
    void* const queryGradient = at(plan.queryGradient, row * plan.width);
    void* const keyGradient = at(plan.keyGradient, keyRow * plan.width);
    void* const valueGradient = at(plan.valueGradient, keyRow * plan.valueWidth);
    void* const gradients = at(plan.scoreGradients, 0);
    softmax.gradients = gradients;
    if (status.ok())
      status = backend.multiply(scoresFrom(plan.valueWidth, outputStride, valueStride),
                                Matrices{.a = outputGradient, .b = value, .c = gradients, .d = gradients});
    if (status.ok())
      status = backend.multiply(
          columnsFrom(plan.valueWidth, outputStride, valueStride),
          Matrices{.a = scores, .b = outputGradient, .c = valueGradient, .d = valueGradient});
    if (status.ok()) status = backend.softmax(softmax);
    if (status.ok())
      status = backend.multiply(rowsFrom(plan.width, keyStride, queryStride),
                                Matrices{.a = gradients, .b = key, .c = queryGradient, .d = queryGradient});
    if (status.ok())
      status = backend.multiply(columnsFrom(plan.width, queryStride, keyStride),
                                Matrices{.a = gradients, .b = query, .c = keyGradient, .d = keyGradient});
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace vsim::gpu::cuda
