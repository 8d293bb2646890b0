#include "gpu/calibrate/grids.h"

#include <algorithm>
#include <bit>
#include <string>

namespace vsim::gpu {

using core::Bytes;
using core::Operation;
using core::OpKind;

namespace {

constexpr Bytes kElement = 2;

void addProducts(std::vector<GridPoint>& grid, bool small) {
  const std::vector<std::int64_t> rows = small ? std::vector<std::int64_t>{32, 128, 256, 512, 1024}
                                               : std::vector<std::int64_t>{128, 512, 2048, 8192, 16384};
  const std::vector<std::int64_t> sides =
      small ? std::vector<std::int64_t>{64, 256, 1024} : std::vector<std::int64_t>{1024, 4096, 8192, 16384};
  for (const std::int64_t m : rows)
    for (const std::int64_t n : sides)
      for (const std::int64_t k : sides) {
        const bool square = m == n && n == k;
        const bool coarse = (n == k || m == n) && m >= rows[1];
        grid.push_back({productOf(m, n, k), square ? 0 : coarse ? 1 : 2});
      }
}

}  // namespace

Operation productOf(std::int64_t m, std::int64_t n, std::int64_t k) {
  Operation op;
  op.kind = OpKind::gemm;
  op.name = "gemm";
  op.m = m;
  op.n = n;
  op.k = k;
  op.flops = op.causalFlops = 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  op.bytesRead = kElement * (m * k + k * n);
  op.bytesWritten = kElement * m * n;
  return op;
}

Operation attentionOf(std::int64_t sequence, bool backward) {
  Operation op;
  op.kind = backward ? OpKind::attentionBackward : OpKind::attentionForward;
  op.backward = backward;
  op.name = backward ? "attention.bwd" : "attention";
  op.batch = 1;
  op.sequence = sequence;
  op.heads = 32;
  op.kvHeads = 8;
  op.headDim = op.headDimValue = 128;
  const auto s = static_cast<double>(sequence), width = static_cast<double>(op.heads * op.headDim);
  // Two products over all pairs forward, five backward.
  op.flops = (backward ? 5 : 2) * 2 * s * s * width;
  op.causalFlops = (backward ? 5 : 2) * s * (s + 1) * width;
  const Bytes query = kElement * sequence * op.heads * op.headDim;
  const Bytes keys = kElement * sequence * op.kvHeads * op.headDim;
  op.bytesRead = backward ? 3 * query + 2 * keys : query + 2 * keys;
  op.bytesWritten = backward ? query + 2 * keys : query;
  return op;
}

Operation copyOf(Bytes bytes) {
  Operation op;
  op.memoryOp = core::MemoryOp::copy;
  op.name = "copy";
  op.bytesRead = op.bytesWritten = bytes / 2;
  return op;
}

std::vector<GridPoint> kernelGrid(bool small) {
  std::vector<GridPoint> grid;
  addProducts(grid, small);
  const std::vector<std::int64_t> sequences =
      small ? std::vector<std::int64_t>{64, 256, 1024} : std::vector<std::int64_t>{1024, 4096, 8192, 16384};
  for (const std::int64_t sequence : sequences)
    for (const bool backward : {false, true})
      grid.push_back({attentionOf(sequence, backward), sequence == sequences[1] ? 0 : 1});
  // Within a level from small to large: what a large one would take is known before it is tried.
  std::ranges::stable_sort(grid, [](const GridPoint& a, const GridPoint& b) {
    return a.level != b.level ? a.level < b.level : a.operation.causalFlops < b.operation.causalFlops;
  });
  return grid;
}

std::vector<GridSize> sizeGrid(Bytes smallest, Bytes largest) {
  std::vector<GridSize> sizes;
  const auto first = std::bit_ceil(static_cast<std::uint64_t>(std::max<Bytes>(1, smallest)));
  for (auto size = static_cast<Bytes>(first); size > 0 && size <= largest; size *= 2) {
    const int power = std::countr_zero(static_cast<std::uint64_t>(size));
    sizes.push_back({size, power % 4 == 0 ? 0 : power % 2 == 0 ? 1 : 2});
  }
  std::ranges::stable_sort(sizes, {}, &GridSize::level);
  return sizes;
}

}  // namespace vsim::gpu
