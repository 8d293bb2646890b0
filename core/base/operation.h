#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/units.h"

namespace vsim::core {

enum class OpKind : std::uint8_t {
  gemm,              // m x n = (m x k)(k x n), `count` equal products in one launch each
  groupedGemm,       // experts: `groups` products that share one launch; m = rows in all groups together
  attentionForward,  // fused attention
  attentionBackward,
  memory,  // memory-bound kernel: bytesRead + bytesWritten decide
};

/// What kind of memory-bound kernel: decides its efficiency.
enum class MemoryOp : std::uint8_t {
  elementwise,
  activation,
  residual,
  norm,
  rope,
  embedding,
  loss,
  softmax,
  optimizer,
  copy,
  cast,
  permute,
  quantize,
  reduction
};

/// One kernel launch (or `count` equal ones) with its exact cost. Sizes are of this rank.
struct Operation {
  OpKind kind = OpKind::memory;
  MemoryOp memoryOp = MemoryOp::elementwise;
  bool backward = false;
  DType dtype = DType::bf16;
  std::string name;  // "q_proj", "attention", "mlp_norm", "q_proj.dgrad", "q_proj.wgrad"
  int count = 1;     // equal launches one after the other

  std::int64_t m = 0, n = 0, k = 0, groups = 1;                  // GEMMs
  bool accumulatesFp32 = false;                                  // weight gradient added to an fp32 buffer
  std::int64_t batch = 0, sequence = 0, heads = 0, kvHeads = 0;  // attention
  std::int64_t headDim = 0, headDimValue = 0, window = 0;
  bool causal = true;

  Flops flops = 0;  // of all `count` launches; attention: full (non-causal) score matrices as torch counts
  Flops causalFlops = 0;  // the work a causal or windowed kernel really does; equals flops elsewhere
  Bytes bytesRead = 0, bytesWritten = 0;  // minimum HBM traffic of all launches
};

}  // namespace vsim::core
