// How attention, Newton-Schulz and products are put together, with products by plain loops.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "gpu/cuda/attention_plan.h"
#include "gpu/cuda/launch_plan.h"
#include "gpu/cuda/newton_schulz.h"
#include "gpu/cuda/product.h"

using namespace vsim;
using namespace vsim::gpu::cuda;
using core::DType;
using gpu::device::Status;

namespace {

float at(const void* memory, std::int64_t i) { return static_cast<const float*>(memory)[i]; }

/// The product as its comment defines it.
void multiplyRows(const Product& p, const Matrices& m) {
  for (std::int64_t b = 0; b < p.batch; ++b) {
    std::vector<float> result;
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < p.k; ++l)
          sum += static_cast<double>(
                     at(m.a, b * p.strideA + (p.transposeA ? l * p.pitchA + i : i * p.pitchA + l))) *
                 at(m.b, b * p.strideB + (p.transposeB ? j * p.pitchB + l : l * p.pitchB + j));
        const double before = p.beta != 0 ? double{p.beta} * at(m.c, b * p.strideD + i * p.pitchD + j) : 0;
        result.push_back(static_cast<float>(double{p.alpha} * sum + before));
      }
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j)
        static_cast<float*>(m.d)[b * p.strideD + i * p.pitchD + j] =
            result[static_cast<std::size_t>(i * p.n + j)];
  }
}

/// The product as a library by columns is asked for it: result = op(first) op(second).
void multiplyColumns(const Product& p, const Matrices& m) {
  const ColumnMajor shape = columnMajor(p);
  const auto element = [](const ColumnMajor::Matrix& matrix, const void* memory, std::int64_t b,
                          std::int64_t row, std::int64_t column) {
    if (matrix.transposed) std::swap(row, column);
    REQUIRE(row < matrix.rows);
    REQUIRE(column < matrix.columns);
    REQUIRE(matrix.leading >= matrix.rows);
    return at(memory, b * matrix.stride + column * matrix.leading + row);
  };
  const std::int64_t inner = shape.first.transposed ? shape.first.rows : shape.first.columns;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t row = 0; row < shape.result.rows; ++row)
      for (std::int64_t column = 0; column < shape.result.columns; ++column) {
        double sum = 0;
        for (std::int64_t l = 0; l < inner; ++l)
          sum += static_cast<double>(element(shape.first, m.b, b, row, l)) *
                 element(shape.second, m.a, b, l, column);
        const std::int64_t where = b * shape.result.stride + column * shape.result.leading + row;
        const double before = p.beta != 0 ? double{p.beta} * at(m.c, where) : 0;
        static_cast<float*>(m.d)[where] = static_cast<float>(double{p.alpha} * sum + before);
      }
}

std::vector<float> randomFloats(std::mt19937& random, std::int64_t count) {
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = number(random);
  return values;
}

struct HostBackend {
  Status multiply(const Product& product, const Matrices& matrices) {
    multiplyRows(product, matrices);
    ++products;
    return products == failAt ? Status{7, "product failed"} : Status{};
  }
  /// As softmaxKernel and softmaxGradientKernel, in plain loops.
  Status softmax(const SoftmaxCall& call) {
    for (std::int64_t row = 0; row < call.units * call.rows; ++row) {
      float* const scores = static_cast<float*>(call.scores) + row * call.pitch;
      const std::int64_t position = (call.firstRow + row % call.rows) % call.sequence;
      double sum = 0;
      if (call.gradients == nullptr) {
        for (std::int64_t j = 0; j < call.columns; ++j) {
          const bool seen = (!call.causal || j <= position) &&
                            (call.window == 0 || (j - position < call.window && position - j < call.window));
          scores[j] = seen ? std::exp(scores[j] * call.scale) : 0;
          sum += scores[j];
        }
        for (std::int64_t j = 0; j < call.columns; ++j) scores[j] = static_cast<float>(scores[j] / sum);
        continue;
      }
      float* const gradients = static_cast<float*>(call.gradients) + row * call.pitch;
      for (std::int64_t j = 0; j < call.columns; ++j) sum += static_cast<double>(scores[j]) * gradients[j];
      for (std::int64_t j = 0; j < call.columns; ++j)
        gradients[j] = static_cast<float>(scores[j] * (gradients[j] - sum) * call.scale);
    }
    return {};
  }
  int products = 0, failAt = -1;
};

}  // namespace

TEST_CASE("cuda products: by rows and by columns are the same") {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    Product p = denseProduct(DType::fp32, DType::fp32, 1 + random() % 5, 1 + random() % 5, 1 + random() % 5);
    p.batch = 1 + random() % 3;
    p.transposeA = random() % 2 == 0;
    p.transposeB = random() % 2 == 0;
    p.pitchA = (p.transposeA ? p.m : p.k) + random() % 3;
    p.pitchB = (p.transposeB ? p.k : p.n) + random() % 3;
    p.pitchD = p.n + random() % 3;
    p.strideA = p.pitchA * (p.transposeA ? p.k : p.m) + random() % 2;
    p.strideB = p.pitchB * (p.transposeB ? p.n : p.k);
    p.strideD = p.pitchD * p.m;
    p.alpha = 1.5F;
    p.beta = random() % 2 == 0 ? 0.0F : -0.5F;
    const auto a = randomFloats(random, p.batch * p.strideA), b = randomFloats(random, p.batch * p.strideB);
    const auto c = randomFloats(random, p.batch * p.strideD);
    std::vector<float> rows(c.size()), columns(c.size());
    multiplyRows(p, {a.data(), b.data(), c.data(), rows.data()});
    multiplyColumns(p, {a.data(), b.data(), c.data(), columns.data()});
    REQUIRE(rows == columns);
  }
}

TEST_CASE("cuda products: groups cover every row once, each with its own B") {
  for (const std::int64_t m : {1, 3, 12, 100})
    for (const std::int64_t groups : {1, 3, 4, 7}) {
      const gpu::device::GemmCall call{.dtype = DType::bf16, .m = m, .n = 5, .k = 11, .groups = groups};
      std::int64_t rows = 0;
      for (const GemmPart& part : partsOf(call)) {
        CHECK(part.a == rows * 11);
        CHECK(part.d == rows * 5);
        CHECK(part.product.strideB == 55);
        if (part.product.batch == 1 && groups > 1) CHECK(part.b % 55 == 0);
        rows += part.product.m * part.product.batch;
      }
      CHECK(rows == m);
      CHECK((partsOf(call).size() == 1) == (m % groups == 0 || m == 1));
    }
  CHECK(partsOf({.m = 0, .n = 4, .k = 4}).empty());
  const auto fp8 = partsOf({.dtype = DType::fp8, .m = 16, .n = 32, .k = 64, .accumulate = true});
  REQUIRE(fp8.size() == 1);
  CHECK(fp8[0].product.transposeB);
  CHECK(fp8[0].product.pitchB == 64);
  CHECK(fp8[0].product.outputs == DType::fp32);
  CHECK(fp8[0].product.beta == 1);
  CHECK(columnMajor(fp8[0].product).first.transposed);
  CHECK_FALSE(columnMajor(fp8[0].product).second.transposed);
}

TEST_CASE("cuda attention: passes of any size give the same, and what the definition gives") {
  std::mt19937 random(7);
  for (int round = 0; round < 12; ++round) {
    gpu::device::AttentionCall call{
        .dtype = DType::fp32, .backward = true, .causal = round % 3 != 0, .batch = 2};
    call.sequence = 1 + static_cast<std::int64_t>(random() % 150);
    call.kvHeads = 1 + static_cast<std::int64_t>(random() % 2);
    call.heads = call.kvHeads * (1 + static_cast<std::int64_t>(random() % 3));
    call.headDim = 5, call.headDimValue = round % 2 == 0 ? 0 : 3, call.window = round % 4 == 1 ? 9 : 0;
    const AttentionPlan whole = planAttention(call), cut = planAttention(call, 1);
    REQUIRE(whole.passes.size() == 1);
    const std::int64_t rows = whole.units * whole.rowsOfUnit, keys = whole.units * whole.sequence;
    const auto q = randomFloats(random, rows * whole.width), k = randomFloats(random, keys * whole.width),
               v = randomFloats(random, keys * whole.valueWidth),
               g = randomFloats(random, rows * whole.valueWidth);
    const auto run = [&](const AttentionPlan& plan) {
      const auto memoryOf = [](std::int64_t bytes) {
        return std::vector<float>(static_cast<std::size_t>(bytes / 4), std::nanf(""));
      };
      std::vector<float> operands = memoryOf(plan.operandBytes), memory = memoryOf(plan.resultBytes);
      const auto put = [&](std::int64_t array, const std::vector<float>& values) {
        std::copy(values.begin(), values.end(), operands.begin() + array / 4);
      };
      put(plan.query, q), put(plan.key, k), put(plan.value, v), put(plan.outputGradient, g);
      REQUIRE(runAttention(plan, operands.data(), memory.data(), HostBackend{}).ok());
      std::vector<float> results;
      const auto get = [&](std::int64_t array, std::int64_t count) {
        results.insert(results.end(), memory.begin() + array / 4, memory.begin() + array / 4 + count);
      };
      get(plan.queryGradient, rows * plan.width), get(plan.keyGradient, keys * plan.width);
      get(plan.valueGradient, keys * plan.valueWidth);
      return results;
    };
    const std::vector<float> one = run(whole), many = run(cut);
    for (std::size_t i = 0; i < one.size(); ++i) REQUIRE(many[i] == Approx(one[i]).margin(1e-5));

    // Gradient of values by the definition, for one key of one unit.
    const auto key = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(keys));
    const std::int64_t unit = key / whole.sequence;
    double expected = 0;
    for (std::int64_t r = unit * whole.rowsOfUnit; r < (unit + 1) * whole.rowsOfUnit; ++r) {
      const std::int64_t position = r % whole.sequence;
      double sum = 0, own = 0;
      for (std::int64_t j = 0; j < whole.sequence; ++j) {
        if ((call.causal && j > position) || (call.window > 0 && std::abs(j - position) >= call.window))
          continue;
        double score = 0;
        for (std::int64_t i = 0; i < whole.width; ++i)
          score += static_cast<double>(at(q.data(), r * whole.width + i)) *
                   at(k.data(), (unit * whole.sequence + j) * whole.width + i);
        const double weight = std::exp(score / std::sqrt(static_cast<double>(whole.width)));
        sum += weight;
        if (unit * whole.sequence + j == key) own = weight;
      }
      expected += own / sum * at(g.data(), r * whole.valueWidth);
    }
    const std::int64_t place = rows * whole.width + keys * whole.width + key * whole.valueWidth;
    REQUIRE(one[static_cast<std::size_t>(place)] == Approx(expected).margin(1e-5));
  }
}

TEST_CASE("cuda attention: scratch memory stays bounded, errors end the run") {
  gpu::device::AttentionCall call{.dtype = DType::bf16, .backward = true, .batch = 1, .sequence = 131'072};
  call.heads = 64, call.kvHeads = 8, call.headDim = 128;
  const AttentionPlan plan = planAttention(call);
  const std::int64_t tensors = 4 * (64 + 8) * call.sequence * 128 * 2;
  const std::int64_t bytes = plan.operandBytes + plan.resultBytes;
  // Of queries, keys, values and their gradients, and of the gradient of what comes out: not that itself.
  CHECK(bytes >= tensors - 64 * call.sequence * 128 * 2);
  CHECK(bytes <= tensors + 2 * kScoreBytes + 10 * 256);
  std::int64_t covered = 0;
  for (const AttentionPass& pass : plan.passes) covered += pass.units * pass.rows;
  CHECK(covered == 64 * call.sequence);
  CHECK(planAttention({.sequence = 0}).passes.empty());

  gpu::device::AttentionCall small{.dtype = DType::fp32, .backward = true, .sequence = 4, .headDim = 2};
  const AttentionPlan plans = planAttention(small);
  std::vector<float> operands(static_cast<std::size_t>(plans.operandBytes / 4)),
      memory(static_cast<std::size_t>(plans.resultBytes / 4));
  for (int fail = 1; fail <= 5; ++fail) {
    HostBackend backend{.failAt = fail};
    CHECK(runAttention(plans, operands.data(), memory.data(), backend).text == "product failed");
    CHECK(backend.products == fail);
  }
}

TEST_CASE("cuda Newton-Schulz: the right products in the right order, wide and tall") {
  // The schedule moves bf16; here its elements are counted, not computed.
  struct Recorder {
    std::vector<Product> products;
    const void *x = nullptr, *last = nullptr;
    int copies = 0;
    Status normalize(void* memory, std::int64_t, float*) {
      x = memory;
      return {};
    }
    Status multiply(const Product& product, const Matrices& matrices) {
      products.push_back(product);
      CHECK(matrices.a != matrices.d);
      CHECK(matrices.b != matrices.d);
      CHECK(matrices.c != nullptr);
      last = matrices.d;
      return {};
    }
    Status copy(void* to, const void* from, std::int64_t) {
      CHECK(to == x);
      CHECK(from == last);
      ++copies;
      return {};
    }
  };
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{4, 10}, {10, 4}, {6, 6}})
    for (const int iterations : {4, 5}) {
      std::vector<std::uint16_t> x(60), scratch(300);
      Recorder recorder;
      REQUIRE(runNewtonSchulz(x.data(), rows, columns, iterations, scratch.data(), recorder).ok());
      REQUIRE(recorder.products.size() == static_cast<std::size_t>(3 * iterations));
      CHECK(recorder.copies == iterations % 2);
      const Product &gram = recorder.products[0], &power = recorder.products[1], &step = recorder.products[2];
      const std::int64_t side = std::min(rows, columns);
      CHECK((gram.m == side && gram.n == side && gram.k == std::max(rows, columns)));
      CHECK(gram.transposeA == (rows > columns));
      CHECK(gram.transposeB == (rows <= columns));
      CHECK((gram.pitchA == columns && gram.pitchB == columns && gram.pitchD == side));
      CHECK((power.alpha == kNewtonSchulzC && power.beta == kNewtonSchulzB));
      CHECK((step.m == rows && step.n == columns && step.k == side && step.beta == kNewtonSchulzA));
    }
}

TEST_CASE("cuda plans: packs cover all elements, and only where operands are aligned alike") {
  std::mt19937 random(13);
  std::vector<float> memory(64);
  for (int round = 0; round < 500; ++round) {
    const auto first = random() % 16, second = random() % 16;
    const auto elements = static_cast<std::int64_t>(random() % 40);
    const PackPlan plan = planPacks(elements, 4, {{memory.data() + first, 4}, {memory.data() + second, 4}});
    CHECK(plan.head + plan.packs * plan.width <= elements);
    CHECK(elements - plan.head - plan.packs * plan.width < std::max(plan.width, 1));
    CHECK(plan.width == (first % 4 == second % 4 ? 4 : 1));
    if (plan.width == 4 && plan.packs > 0)
      CHECK(reinterpret_cast<std::uintptr_t>(memory.data() + first + plan.head) % 16 == 0);
  }
  CHECK(blocksFor(0, 4) == 1);
  CHECK(blocksFor(std::int64_t{1} << 62U, 1) == kMostBlocks);
}
