#include "gpu/host/host_work.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace vsim::gpu {

using core::Operation;
using core::OpKind;

namespace {

double toDouble(std::int64_t value) { return static_cast<double>(value); }

/// The nearest whole number, at least 1; sizes beyond any memory are cut.
std::int64_t whole(double size) {
  constexpr double kLargest = 1e15;
  return static_cast<std::int64_t>(std::clamp(std::round(size), 1.0, kLargest));
}

bool works(const Operation& operation, double scale) { return scale > 0 && operation.count > 0; }

/// Exact (query, key) pairs of one head under the operation's mask.
double maskedPairs(const Operation& op) {
  const double s = toDouble(op.sequence);
  if (op.window <= 0 || op.window >= op.sequence) return op.causal ? s * (s + 1) / 2 : s * s;
  const double w = toDouble(op.window);
  const double below = w * (w + 1) / 2 + (s - w) * w;
  return op.causal ? below : 2 * below - s;
}

/// `shape` with the sequence length, and the window in proportion to it.
HostAttention withSequence(HostAttention shape, const Operation& op, std::int64_t sequence) {
  shape.sequence = sequence;
  if (op.window > 0 && op.window < op.sequence)
    shape.window = whole(toDouble(op.window) * toDouble(sequence) / toDouble(op.sequence));
  return shape;
}

/// The length at which one head's pairs come nearest to `wanted`.
std::int64_t sequenceFor(const HostAttention& shape, const Operation& op, double wanted) {
  const auto pairs = [&](std::int64_t sequence) { return withSequence(shape, op, sequence).pairs(); };
  std::int64_t low = 1, high = 1;
  while (pairs(high) < wanted) high *= 2;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (pairs(middle) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 1 && wanted - pairs(low - 1) < pairs(low) - wanted ? low - 1 : low;
}

}  // namespace

core::Flops HostProduct::flops() const {
  const double products = toDouble(launches) * (rowsOfAllGroups ? 1.0 : toDouble(groups));
  return 2.0 * toDouble(m) * toDouble(n) * toDouble(k) * products;
}

HostProduct productOf(const Operation& op, double scale) {
  HostProduct shape;
  if (!works(op, scale) || op.m <= 0 || op.n <= 0 || op.k <= 0) return shape;
  shape.m = op.m;
  shape.n = op.n;
  shape.k = op.k;
  std::array<std::int64_t*, 3> sizes{&shape.m, &shape.n, &shape.k};
  std::ranges::sort(sizes, [](const auto* a, const auto* b) { return *a < *b; });
  double left = std::min(scale, 1.0);  // by how much the sizes that are still whole must shrink together
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double old = toDouble(*sizes[i]);
    *sizes[i] = whole(old * std::pow(left, 1.0 / toDouble(static_cast<std::int64_t>(sizes.size() - i))));
    left *= old / toDouble(*sizes[i]);
  }
  shape.launches = op.count;
  shape.groups = std::max<std::int64_t>(op.groups, 1);
  shape.rowsOfAllGroups = op.kind == OpKind::groupedGemm;
  if (shape.rowsOfAllGroups) shape.groups = std::min(shape.groups, shape.m);
  return shape;
}

HostAttention::Keys HostAttention::keysOf(std::int64_t row) const {
  const std::int64_t end = std::min(row + kRows, sequence);
  const bool banded = window > 0 && window < sequence;
  return {banded ? std::max<std::int64_t>(0, row - window + 1) : 0, causal ? end
                                                                    : banded
                                                                        ? std::min(sequence, end + window - 1)
                                                                        : sequence};
}

double HostAttention::pairs() const {
  double sum = 0;
  for (std::int64_t row = 0; row < sequence; row += kRows) {
    const Keys keys = keysOf(row);
    sum += toDouble(std::min(kRows, sequence - row)) * toDouble(keys.end - keys.first);
  }
  return sum;
}

core::Flops HostAttention::flopsPerPair() const {
  // Forward: q k^T and p v. Backward: q k^T again, dv, dp, dq, dk.
  const double qk = toDouble(headDim), v = toDouble(headDimValue);
  return 2.0 * (backward ? 3 * qk + 2 * v : qk + v);
}

core::Flops HostAttention::flops() const {
  return launches == 0 ? 0 : toDouble(launches) * toDouble(heads) * flopsPerPair() * pairs();
}

HostAttention attentionOf(const Operation& op, double scale) {
  HostAttention shape;
  scale = std::min(scale, 1.0);
  const bool empty =
      op.batch <= 0 || op.heads <= 0 || op.sequence <= 0 || op.headDim <= 0 || op.headDimValue < 0;
  if (!works(op, scale) || empty) return shape;
  shape.causal = op.causal;
  shape.backward = op.kind == OpKind::attentionBackward;
  shape.launches = op.count;
  shape.headDim = op.headDim;
  shape.headDimValue = op.headDimValue > 0 ? op.headDimValue : op.headDim;
  const double heads = toDouble(op.batch) * toDouble(op.heads);
  const double wanted = scale * heads * maskedPairs(op) * shape.flopsPerPair();
  const double side = std::cbrt(scale);
  shape.headDim = whole(side * toDouble(shape.headDim));
  shape.headDimValue = whole(side * toDouble(shape.headDimValue));
  const double pairs = wanted / shape.flopsPerPair();
  shape = withSequence(shape, op, sequenceFor(shape, op, pairs / heads));
  shape.heads = std::min(whole(pairs / shape.pairs()), whole(heads));
  return shape;
}

HostTraffic trafficOf(const Operation& op, double scale) {
  const auto floats = [&](core::Bytes bytes) {
    return bytes > 0 ? whole(std::min(scale, 1.0) * toDouble(bytes) / toDouble(sizeof(float))) : 0;
  };
  if (!works(op, scale)) return {};
  return {floats(op.bytesRead), floats(op.bytesWritten)};
}

HostWork workOf(const Operation& operation, double scale) {
  switch (operation.kind) {
    case OpKind::gemm:
    case OpKind::groupedGemm:
      return {.flops = productOf(operation, scale).flops()};
    case OpKind::attentionForward:
    case OpKind::attentionBackward:
      return {.flops = attentionOf(operation, scale).flops()};
    case OpKind::memory:
      break;
  }
  const HostTraffic traffic = trafficOf(operation, scale);
  return {.bytes = toDouble(sizeof(float)) * (toDouble(traffic.read) + toDouble(traffic.written))};
}

}  // namespace vsim::gpu
