#include <algorithm>
#include <cmath>

#include "gpu/host/host_compute.h"

// One stream is one thread.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Dense>

namespace vsim::gpu {
namespace {

using Rows = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using Column = Eigen::Map<Eigen::ArrayXf>;

/// Keys that a block of query rows meets at a time.
constexpr std::int64_t kKeys = 512;
/// Keys and values lie in scratch of so many rows, over and over: longer sequences go over it again.
constexpr std::int64_t kRegion = 4096;

std::int64_t ofRegion(std::int64_t row) { return row % kRegion; }

/// Hands out the scratch piece by piece.
class Pieces {
 public:
  explicit Pieces(float *begin) : next_(begin) {}
  float *take(std::int64_t rows, std::int64_t columns) {
    float *const piece = next_;
    next_ += rows * columns;
    return piece;
  }

 private:
  float *next_;
};

struct Sizes {
  explicit Sizes(const HostAttention &shape)
      : rows(std::min(HostAttention::kRows, shape.sequence)),
        keys(std::min(kKeys, shape.sequence)),
        region(std::min(kRegion, shape.sequence) + keys),
        qk(shape.headDim),
        v(shape.headDimValue) {}
  std::int64_t rows, keys, region, qk, v;
  /// q, k, v, dO.
  [[nodiscard]] std::size_t inputs() const {
    return static_cast<std::size_t>(rows * qk + region * (qk + v) + rows * v);
  }
  /// Scores and their gradients; row sums, row maxima and factors; o, dq, dk, dv.
  [[nodiscard]] std::size_t outputs() const {
    return static_cast<std::size_t>(2 * rows * keys + 3 * rows + rows * v + rows * qk + region * (qk + v));
  }
};

/// One head: every block of query rows, with `chunk` for each part of the keys that it sees.
template <class Block, class Chunk, class End>
void inBlocks(const HostAttention &shape, Block begin, Chunk chunk, End end) {
  for (std::int64_t row = 0; row < shape.sequence; row += HostAttention::kRows) {
    const std::int64_t rows = std::min(HostAttention::kRows, shape.sequence - row);
    const HostAttention::Keys keys = shape.keysOf(row);
    begin(rows, keys.end - keys.first);
    for (std::int64_t key = keys.first; key < keys.end; key += kKeys)
      chunk(rows, ofRegion(key), std::min(kKeys, keys.end - key));
    end(rows);
  }
}

}  // namespace

void HostCompute::take(const HostAttention &shape) {
  const Sizes sizes(shape);
  read_.floats(sizes.inputs());
  written_.floats(sizes.outputs());
}

void HostCompute::count(const HostAttention &shape, std::int64_t rows, std::int64_t keys) {
  done_.flops += shape.flopsPerPair() * static_cast<double>(rows * keys);
}

// Online softmax: Dao, "FlashAttention-2" (2023), algorithm 1.
void HostCompute::attend(const HostAttention &shape) {
  const Sizes size(shape);
  Pieces in(read_.floats(size.inputs())), out(written_.floats(size.outputs()));
  float *const q = in.take(size.rows, size.qk), *const k = in.take(size.region, size.qk);
  float *const v = in.take(size.region, size.v);
  float *const scores = out.take(size.rows, size.keys), *const o = out.take(size.rows, size.v);
  float *const sums = out.take(size.rows, 1), *const maxima = out.take(size.rows, 1);
  float *const factors = out.take(size.rows, 1);
  const float scaling = 1.0F / std::sqrt(static_cast<float>(size.qk));

  const auto begin = [&](std::int64_t rows, std::int64_t) {
    constexpr float kLow = -1e30F;
    Column(maxima, rows).setConstant(kLow);
    Column(sums, rows).setZero();
    Rows(o, rows, size.v).setZero();
  };
  const auto chunk = [&](std::int64_t rows, std::int64_t key, std::int64_t keys) {
    Rows s(scores, rows, keys), output(o, rows, size.v);
    Column sum(sums, rows), maximum(maxima, rows), factor(factors, rows);
    s.noalias() = scaling * Rows(q, rows, size.qk) * Rows(k + key * size.qk, keys, size.qk).transpose();
    factor = maximum;
    maximum = maximum.max(s.rowwise().maxCoeff().array());
    factor = (factor - maximum).exp();
    s.array() = (s.array().colwise() - maximum).exp();
    sum = sum * factor + s.rowwise().sum().array();
    output.array().colwise() *= factor;
    output.noalias() += s * Rows(v + key * size.v, keys, size.v);
    count(shape, rows, keys);
  };
  const auto end = [&](std::int64_t rows) {
    Rows(o, rows, size.v).array().colwise() /= Column(sums, rows);
    takeIn(o[rows * size.v - 1]);
  };
  for (std::int64_t i = 0; i < shape.launches * shape.heads; ++i) inBlocks(shape, begin, chunk, end);
}

// The five products of algorithm 2 in the same paper.
void HostCompute::attendBackward(const HostAttention &shape) {
  const Sizes size(shape);
  Pieces in(read_.floats(size.inputs())), out(written_.floats(size.outputs()));
  float *const q = in.take(size.rows, size.qk), *const k = in.take(size.region, size.qk);
  float *const v = in.take(size.region, size.v), *const dO = in.take(size.rows, size.v);
  float *const scores = out.take(size.rows, size.keys), *const gradients = out.take(size.rows, size.keys);
  float *const sums = out.take(size.rows, 1), *const dq = out.take(size.rows, size.qk);
  float *const dk = out.take(size.region, size.qk), *const dv = out.take(size.region, size.v);
  const float scaling = 1.0F / std::sqrt(static_cast<float>(size.qk));
  float logarithm = 0;  // of the softmax's denominator, as the forward pass would have kept it

  const auto begin = [&](std::int64_t rows, std::int64_t keys) {
    logarithm = std::log(static_cast<float>(keys));
    Rows(dq, rows, size.qk).setZero();
    Column(sums, rows) = Rows(dO, rows, size.v).rowwise().mean().array();
  };
  const auto chunk = [&](std::int64_t rows, std::int64_t key, std::int64_t keys) {
    Rows p(scores, rows, keys), ds(gradients, rows, keys);
    const Rows queries(q, rows, size.qk), dOut(dO, rows, size.v);
    const Rows keyRows(k + key * size.qk, keys, size.qk), values(v + key * size.v, keys, size.v);
    p.noalias() = scaling * queries * keyRows.transpose();
    p.array() = (p.array() - logarithm).exp();
    Rows(dv + key * size.v, keys, size.v).noalias() += p.transpose() * dOut;
    ds.noalias() = dOut * values.transpose();
    ds.array() = p.array() * (ds.array().colwise() - Column(sums, rows));
    Rows(dq, rows, size.qk).noalias() += scaling * ds * keyRows;
    Rows(dk + key * size.qk, keys, size.qk).noalias() += scaling * ds.transpose() * queries;
    count(shape, rows, keys);
  };
  const auto end = [&](std::int64_t rows) { takeIn(dq[rows * size.qk - 1]); };
  for (std::int64_t i = 0; i < shape.launches * shape.heads; ++i) {
    Rows(dk, size.region, size.qk).setZero();
    Rows(dv, size.region, size.v).setZero();
    inBlocks(shape, begin, chunk, end);
    takeIn(dk[0] + dv[0]);
  }
}

}  // namespace vsim::gpu
