#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/dtype.h"

namespace vsim::core {

/// One tensor of a model as the checkpoint or the framework names it. `shape` is row-major, in elements.
struct TensorSpec {
  std::string name;
  std::vector<std::int64_t> shape;
  DType dtype = DType::bf16;
  /// How tensor parallelism cuts it: dimension, or -1 when every TP rank holds it whole.
  /// Routed experts are cut this way only without expert parallelism; with it the experts are divided
  /// instead.
  int tensorParallelDim = -1;
  /// A routed expert's weight: sharded over `expert` ranks on its experts (dim 0 when fused), then over
  /// fsdp/expert.
  bool routedExpert = false;
  /// Stored with the model but not trained (router correction biases): not sharded, not in gradients.
  bool buffer = false;

  [[nodiscard]] std::int64_t elements() const {
    std::int64_t n = 1;
    for (const std::int64_t d : shape) n *= d;
    return n;
  }
};

}  // namespace vsim::core
