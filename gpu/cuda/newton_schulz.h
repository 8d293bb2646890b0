#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "gpu/cuda/product.h"
#include "gpu/device/api.h"

namespace vsim::gpu::cuda {

/// Coefficients of Muon's quintic iteration (Jordan et al., 2024): X' = a X + (b A + c A A) X, A = X X'.
inline constexpr float kNewtonSchulzA = 3.4445F, kNewtonSchulzB = -4.7750F, kNewtonSchulzC = 2.0315F;

/// Newton-Schulz steps of the bf16 matrix x (rows x columns) in place. The square matrices are on the side of
/// the shorter dimension. `scratch`: 3 max(rows, columns)^2 elements. Backend: `multiply` as for attention,
/// `Status normalize(void* x, elements, float* sum)` that divides x by its norm, with `sum` as scratch, and
/// `Status copy(void* to, const void* from, elements)`.
template <class Backend>
device::Status runNewtonSchulz(void* x, std::int64_t rows, std::int64_t columns, int iterations,
                               void* scratch, Backend&& backend) {
  if (rows <= 0 || columns <= 0) return {};
  constexpr core::DType kType = core::DType::bf16;
  const bool wide = rows <= columns;
  const std::int64_t side = std::min(rows, columns);
  const auto at = [scratch](std::int64_t elements) -> void* {
    return static_cast<char*>(scratch) + elements * core::bytesOf(kType);
  };
  void *const square = at(0), *const polynomial = at(side * side);
  void *now = x, *next = at(2 * side * side);

  Product gram = denseProduct(kType, kType, side, side, wide ? columns : rows);
  gram.transposeB = wide;
  gram.transposeA = !wide;
  gram.pitchA = gram.pitchB = columns;
  Product power = denseProduct(kType, kType, side, side, side);
  power.alpha = kNewtonSchulzC;
  power.beta = kNewtonSchulzB;
  Product step = denseProduct(kType, kType, rows, columns, side);
  step.beta = kNewtonSchulzA;

  // The first square is not there yet: the norm may lie where it will be.
  device::Status status = backend.normalize(x, rows * columns, static_cast<float*>(square));
  for (int iteration = 0; iteration < iterations && status.ok(); ++iteration) {
    status = backend.multiply(gram, Matrices{.a = now, .b = now, .c = square, .d = square});
    if (status.ok())
      status = backend.multiply(power, Matrices{.a = square, .b = square, .c = square, .d = polynomial});
    if (status.ok())
      status = backend.multiply(
          step, Matrices{.a = wide ? polynomial : now, .b = wide ? now : polynomial, .c = now, .d = next});
    std::swap(now, next);
  }
  if (status.ok() && now != x) status = backend.copy(x, now, rows * columns);
  return status;
}

}  // namespace vsim::gpu::cuda
