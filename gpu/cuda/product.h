#pragma once

#include <cstdint>
#include <vector>

#include "core/base/dtype.h"
#include "gpu/device/api.h"

namespace vsim::gpu::cuda {

/// D = alpha op(A) op(B) + beta C, row-major, `batch` times: op(A) is m x k, op(B) k x n, C and D m x n. A
/// transposed operand is stored as its transpose. Pitches: elements from row to row of what is stored;
/// strides: from one product of the batch to the next.
struct Product {
  core::DType inputs = core::DType::bf16, outputs = core::DType::bf16;  // of A and B; of C and D
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  bool transposeA = false, transposeB = false;
  std::int64_t pitchA = 0, pitchB = 0, pitchD = 0;  // C has D's
  std::int64_t strideA = 0, strideB = 0, strideD = 0;
  float alpha = 1, beta = 0;

  friend bool operator==(const Product&, const Product&) = default;
};

/// Memory of a product; c may be d, and is not read when beta is zero.
struct Matrices {
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  void* d = nullptr;
};

/// The same product for a library that reads memory by columns. A row-major matrix is its transpose there,
/// and D' = op(B)' op(A)': the operands change places.
struct ColumnMajor {
  struct Matrix {
    std::int64_t rows = 0, columns = 0, leading = 0, stride = 0;
    bool transposed = false;
  };
  Matrix first, second, result;  // first is B, second is A
};

constexpr ColumnMajor columnMajor(const Product& p) {
  ColumnMajor out;
  out.first = p.transposeB ? ColumnMajor::Matrix{p.k, p.n, p.pitchB, p.strideB, true}
                           : ColumnMajor::Matrix{p.n, p.k, p.pitchB, p.strideB, false};
  out.second = p.transposeA ? ColumnMajor::Matrix{p.m, p.k, p.pitchA, p.strideA, true}
                            : ColumnMajor::Matrix{p.k, p.m, p.pitchA, p.strideA, false};
  out.result = {p.n, p.m, p.pitchD, p.strideD, false};
  return out;
}

/// A dense product without batch: pitches are the rows' lengths.
constexpr Product denseProduct(core::DType inputs, core::DType outputs, std::int64_t m, std::int64_t n,
                               std::int64_t k) {
  Product p{.inputs = inputs, .outputs = outputs, .m = m, .n = n, .k = k};
  p.pitchA = k;
  p.pitchB = n;
  p.pitchD = n;
  p.strideA = m * k;
  p.strideB = k * n;
  p.strideD = m * n;
  return p;
}

struct GemmPart {
  Product product;
  std::int64_t a = 0, b = 0, d = 0;  // elements before the part's operands
};

/// The products of a call: one, with a batch where all groups have equally many rows, else one a group that
/// has rows.
inline std::vector<GemmPart> partsOf(const device::GemmCall& call) {
  const core::DType outputs = call.accumulate ? core::DType::fp32 : call.dtype;
  const auto part = [&](std::int64_t rows) {
    GemmPart made{.product = denseProduct(call.dtype, outputs, rows, call.n, call.k)};
    made.product.beta = call.accumulate ? 1.0F : 0.0F;
    if (call.dtype == core::DType::fp8) {  // B as n x k
      made.product.transposeB = true;
      made.product.pitchB = call.k;
    }
    return made;
  };
  if (call.m <= 0 || call.n <= 0 || call.groups <= 0) return {};
  if (call.m % call.groups == 0) {
    GemmPart all = part(call.m / call.groups);
    all.product.batch = call.groups;
    return {all};
  }
  std::vector<GemmPart> parts;
  std::int64_t row = 0;
  for (std::int64_t group = 0; group < call.groups; ++group) {
    const std::int64_t rows = call.m / call.groups + (group < call.m % call.groups ? 1 : 0);
    if (rows == 0) break;
    GemmPart one = part(rows);
    one.a = row * call.k;
    one.b = group * call.k * call.n;
    one.d = row * call.n;
    parts.push_back(one);
    row += rows;
  }
  return parts;
}

}  // namespace vsim::gpu::cuda
