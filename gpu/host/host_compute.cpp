#include "gpu/host/host_compute.h"

#include <algorithm>

// One rank's stream is one thread: a product that took all cores would take them from the others.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Dense>

namespace vsim::gpu {
namespace {

using Matrix = Eigen::Map<Eigen::MatrixXf>;
using Values = Eigen::Map<Eigen::ArrayXf>;

/// Products are made in tiles of at most this side, which bounds the memory and changes no FLOP. Large enough
/// for Eigen's own blocking to be at its best.
constexpr std::int64_t kTile = 1024;

std::size_t area(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

}  // namespace

HostCompute::HostCompute(double scale, core::Bytes scratch)
    : scale_(scale),
      floats_(std::max<std::int64_t>(1, scratch / 2 / static_cast<core::Bytes>(sizeof(float)))) {}

void HostCompute::run(const core::Operation& operation) {
  switch (operation.kind) {
    case core::OpKind::gemm:
    case core::OpKind::groupedGemm:
      return multiply(productOf(operation, scale_));
    case core::OpKind::attentionForward:
      return attend(attentionOf(operation, scale_));
    case core::OpKind::attentionBackward:
      return attendBackward(attentionOf(operation, scale_));
    case core::OpKind::memory:
      return move(trafficOf(operation, scale_));
  }
}

void HostCompute::prepare(const core::Operation& operation) {
  switch (operation.kind) {
    case core::OpKind::gemm:
    case core::OpKind::groupedGemm:
      return take(productOf(operation, scale_));
    case core::OpKind::attentionForward:
    case core::OpKind::attentionBackward:
      return take(attentionOf(operation, scale_));
    case core::OpKind::memory:
      return take(trafficOf(operation, scale_));
  }
}

void HostCompute::take(const HostProduct& shape) {
  const std::int64_t m = std::min(shape.m, kTile), n = std::min(shape.n, kTile), k = std::min(shape.k, kTile);
  read_.floats(area(m, k) + area(k, n));
  written_.floats(area(m, n));
}

void HostCompute::take(const HostTraffic& traffic) {
  const auto size = static_cast<std::size_t>(longest(traffic));
  read_.floats(size);
  written_.floats(size);
}

std::int64_t HostCompute::longest(const HostTraffic& traffic) const {
  return std::min(std::max(traffic.read, traffic.written), floats_);
}

void HostCompute::multiply(const HostProduct& shape) {
  for (std::int64_t launch = 0; launch < shape.launches; ++launch)
    for (std::int64_t group = 0; group < shape.groups; ++group) {
      // As many rows as the others, or one more.
      const std::int64_t rows = shape.rowsOfAllGroups
                                    ? (shape.m * (group + 1)) / shape.groups - shape.m * group / shape.groups
                                    : shape.m;
      multiply(rows, shape.n, shape.k);
    }
}

void HostCompute::multiply(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t tallest = std::min(m, kTile), widest = std::min(n, kTile), deepest = std::min(k, kTile);
  float* const inputs = read_.floats(area(tallest, deepest) + area(deepest, widest));
  float* const output = written_.floats(area(tallest, widest));
  for (std::int64_t row = 0; row < m; row += kTile)
    for (std::int64_t column = 0; column < n; column += kTile) {
      const std::int64_t height = std::min(kTile, m - row), width = std::min(kTile, n - column);
      Matrix c(output, height, width);
      for (std::int64_t at = 0; at < k; at += kTile) {
        const std::int64_t depth = std::min(kTile, k - at);
        const Matrix a(inputs, height, depth), b(inputs + area(height, depth), depth, width);
        if (at == 0)
          c.noalias() = a * b;
        else
          c.noalias() += a * b;
        done_.flops += 2.0 * static_cast<double>(height * width) * static_cast<double>(depth);
      }
      takeIn(c(height - 1, width - 1));
    }
}

void HostCompute::move(const HostTraffic& traffic) {
  const std::int64_t both = std::min(traffic.read, traffic.written);
  const std::int64_t all = longest(traffic);
  if (all == 0) return;
  const auto size = static_cast<std::size_t>(all);
  float* const from = read_.floats(size);
  float* const to = written_.floats(size);
  std::int64_t place = 0;  // in the scratch
  const auto inParts = [&](std::int64_t count, auto work) {
    while (count > 0) {
      const std::int64_t part = std::min(count, all - place);
      work(place, part);
      place = place + part == all ? 0 : place + part;
      count -= part;
    }
  };
  inParts(both, [&](std::int64_t at, std::int64_t count) {
    Values(to + at, count) = 0.5F * Values(from + at, count) + 0.125F;
    takeIn(to[at + count - 1]);
  });
  inParts(traffic.read - both, [&](std::int64_t at, std::int64_t count) {
    takeIn(Values(from + at, count).sum() / static_cast<float>(count));
  });
  inParts(traffic.written - both,
          [&](std::int64_t at, std::int64_t count) { Values(to + at, count).setConstant(result_); });
  done_.bytes += static_cast<double>(sizeof(float)) * static_cast<double>(traffic.read + traffic.written);
}

}  // namespace vsim::gpu
