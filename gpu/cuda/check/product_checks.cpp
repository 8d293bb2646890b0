#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpu/cuda/attention_plan.h"
#include "gpu/cuda/check/checks.h"
#include "gpu/cuda/newton_schulz.h"
#include "gpu/rounding.h"

namespace vsim::gpu::cuda {
namespace {

using core::DType;

/// Largest error of a product of `k` terms below 1 that is stored in `type`: half a unit in the last place of
/// the sum, and of each of the fp32 additions.
double toleranceOf(DType type, std::int64_t k) {
  const double size = 3 * std::sqrt(static_cast<double>(k)) + 1, terms = static_cast<double>(k);
  const double last = type == DType::bf16   ? 0x1p-8
                      : type == DType::fp16 ? 0x1p-11
                      : type == DType::fp8  ? 0x1p-4
                                            : 0x1p-24;
  return last * size + terms * size * 0x1p-24;
}

std::string productOf(const CheckContext& c, const device::GemmCall& shape) {
  device::GemmCall call = shape;
  const DType outputs = call.accumulate ? DType::fp32 : call.dtype;
  DeviceBuffer a(c.api, c.stream, call.dtype, call.m * call.k),
      b(c.api, c.stream, call.dtype, call.groups * call.k * call.n);
  DeviceBuffer out(c.api, c.stream, outputs, call.m * call.n);
  auto av = c.randomValues(call.dtype, a.elements()), bv = c.randomValues(call.dtype, b.elements());
  if (call.dtype == DType::fp8) {  // sixteenths up to 1 are numbers of e4m3
    std::vector<std::uint8_t> bytes(av.size()), bytesOfB(bv.size());
    for (std::uint8_t& byte : bytes)
      byte = static_cast<std::uint8_t>((c.random() % 0x38U) | (c.random() % 2 << 7U));
    for (std::uint8_t& byte : bytesOfB)
      byte = static_cast<std::uint8_t>((c.random() % 0x38U) | (c.random() % 2 << 7U));
    a.upload(bytes.data());
    b.upload(bytesOfB.data());
    av = decode(call.dtype, bytes);
    bv = decode(call.dtype, bytesOfB);
  } else {
    a.write(av);
    b.write(bv);
  }
  const auto before = c.randomValues(outputs, out.elements());
  if (call.accumulate) out.write(before);
  call.a = a.data(), call.b = b.data(), call.c = out.data();
  require(c.api.gemm(call, c.stream));
  std::vector<float> expected(static_cast<std::size_t>(call.m * call.n));
  std::int64_t row = 0;
  for (std::int64_t group = 0; group < call.groups; ++group) {
    const std::int64_t rows = call.m / call.groups + (group < call.m % call.groups ? 1 : 0);
    for (std::int64_t end = row + rows; row < end; ++row)
      for (std::int64_t j = 0; j < call.n; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < call.k; ++i) {
          const std::int64_t at = call.dtype == DType::fp8 ? j * call.k + i : i * call.n + j;
          sum += static_cast<double>(av[static_cast<std::size_t>(row * call.k + i)]) *
                 bv[static_cast<std::size_t>(group * call.k * call.n + at)];
        }
        const auto at = static_cast<std::size_t>(row * call.n + j);
        expected[at] = static_cast<float>(call.accumulate ? before[at] + sum : sum);
      }
  }
  // Fast accumulation of fp8 keeps about 14 bits of the partial sums.
  const double more = call.dtype == DType::fp8 ? static_cast<double>(call.k) * 0x1p-10 : 0;
  std::string problem = difference(out.read(), expected, toleranceOf(outputs, call.k) + more);
  if (problem.empty() && !out.guardsIntact()) problem = "memory around the result was overwritten";
  return problem;
}

/// One row of attention in double precision.
struct AttentionRow {
  std::vector<double> probabilities;
};

std::string attentionOf(const CheckContext& c, device::AttentionCall call) {
  const AttentionPlan plan = planAttention(call);
  const device::OperandBytes bytes = c.api.attentionMemory(call);
  if (bytes.read != static_cast<std::size_t>(plan.operandBytes) ||
      bytes.written != static_cast<std::size_t>(plan.resultBytes))
    return "memory of another size";
  DeviceBuffer operands(c.api, c.stream, DType::uint8, plan.operandBytes),
      results(c.api, c.stream, DType::uint8, plan.resultBytes);
  const std::int64_t rows = plan.units * plan.rowsOfUnit, keys = plan.units * plan.sequence,
                     s = plan.sequence;
  const auto put = [&](std::int64_t array, std::int64_t elements) {
    auto values = c.randomValues(plan.dtype, elements);
    const auto bytes = encode(plan.dtype, values);
    require(c.api.copyToDevice(operands.as<char>() + array, bytes.data(), bytes.size(), c.stream));
    c.finish();
    return values;
  };
  const auto get = [&](std::int64_t array, std::int64_t elements) {
    return decode(plan.dtype, results.download(array, elements * core::bytesOf(plan.dtype)));
  };
  const std::int64_t d = plan.width, dv = plan.valueWidth;
  const auto q = put(plan.query, rows * d), k = put(plan.key, keys * d), v = put(plan.value, keys * dv);
  const auto g = call.backward ? put(plan.outputGradient, rows * dv) : std::vector<float>{};
  const auto before = operands.download(0, plan.operandBytes);
  call.operands = operands.data();
  call.results = results.data();
  require(c.api.attention(call, c.stream));
  std::vector<float> o(static_cast<std::size_t>(rows * dv)), gq(static_cast<std::size_t>(rows * d));
  std::vector<double> gk(static_cast<std::size_t>(keys * d)), gv(static_cast<std::size_t>(keys * dv));
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t unit = row / plan.rowsOfUnit, position = row % s;
    const auto at = [](const std::vector<float>& x, std::int64_t i) {
      return static_cast<double>(x[static_cast<std::size_t>(i)]);
    };
    std::vector<double> p(static_cast<std::size_t>(s)), gp(p.size());
    double sum = 0, dot = 0;
    for (std::int64_t j = 0; j < s; ++j) {
      const bool seen =
          (!call.causal || j <= position) && (call.window == 0 || std::abs(j - position) < call.window);
      double score = 0;
      for (std::int64_t i = 0; i < d; ++i) score += at(q, row * d + i) * at(k, (unit * s + j) * d + i);
      sum += p[static_cast<std::size_t>(j)] = seen ? std::exp(score * plan.scale) : 0;
    }
    for (std::int64_t j = 0; j < s; ++j) {
      const auto key = static_cast<std::size_t>(j);
      p[key] /= sum;
      for (std::int64_t i = 0; i < dv; ++i) {
        const std::int64_t value = (unit * s + j) * dv + i;
        o[static_cast<std::size_t>(row * dv + i)] += static_cast<float>(p[key] * at(v, value));
        if (!call.backward) continue;
        gp[key] += at(g, row * dv + i) * at(v, value);
        gv[static_cast<std::size_t>(value)] += p[key] * at(g, row * dv + i);
      }
      dot += p[key] * gp[key];
    }
    for (std::int64_t j = 0; j < s && call.backward; ++j) {
      const double gs = p[static_cast<std::size_t>(j)] * (gp[static_cast<std::size_t>(j)] - dot) * plan.scale;
      for (std::int64_t i = 0; i < d; ++i) {
        gq[static_cast<std::size_t>(row * d + i)] += static_cast<float>(gs * at(k, (unit * s + j) * d + i));
        gk[static_cast<std::size_t>((unit * s + j) * d + i)] += gs * at(q, row * d + i);
      }
    }
  }
  if (!operands.guardsIntact() || !results.guardsIntact()) return "memory around was overwritten";
  if (operands.download(0, plan.operandBytes) != before) return "operands were overwritten";
  constexpr double kTolerance = 0.03;  // values below 1 in bf16, sums of products of rounded numbers
  if (!call.backward) return difference(get(plan.output, rows * dv), o, kTolerance);
  const auto floats = [](const std::vector<double>& x) { return std::vector<float>(x.begin(), x.end()); };
  // Gradients of keys and values are sums over many queries.
  if (std::string p = difference(get(plan.queryGradient, rows * d), gq, kTolerance); !p.empty())
    return "queries: " + p;
  if (std::string p = difference(get(plan.keyGradient, keys * d), floats(gk), 3 * kTolerance); !p.empty())
    return "keys: " + p;
  if (std::string p = difference(get(plan.valueGradient, keys * dv), floats(gv), 3 * kTolerance); !p.empty())
    return "values: " + p;
  return {};
}

/// Newton-Schulz in double precision; x is rows x columns.
std::vector<double> newtonSchulz(std::vector<double> x, std::int64_t rows, std::int64_t columns,
                                 int iterations) {
  double norm = 0;
  for (const double value : x) norm += value * value;
  for (double& value : x) value /= std::sqrt(norm) + 1e-7;
  const auto r = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    std::vector<double> a(r * r), p(r * r), next(x.size());
    for (std::size_t i = 0; i < r; ++i)
      for (std::size_t j = 0; j < r; ++j)
        for (std::size_t l = 0; l < n; ++l) a[i * r + j] += x[i * n + l] * x[j * n + l];
    for (std::size_t i = 0; i < r; ++i)
      for (std::size_t j = 0; j < r; ++j) {
        p[i * r + j] = double{kNewtonSchulzB} * a[i * r + j];
        for (std::size_t l = 0; l < r; ++l)
          p[i * r + j] += double{kNewtonSchulzC} * a[i * r + l] * a[l * r + j];
      }
    for (std::size_t i = 0; i < r; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        next[i * n + j] = double{kNewtonSchulzA} * x[i * n + j];
        for (std::size_t l = 0; l < r; ++l) next[i * n + j] += p[i * r + l] * x[l * n + j];
      }
    x = next;
  }
  return x;
}

}  // namespace

void checkProducts(const CheckContext& c) {
  if (!c.computes) return c.table.skip("products against the host", "this device does not compute products");
  struct Shape {
    std::int64_t m, n, k, groups;
  };
  const Shape kShapes[] = {{1, 1, 1, 1},    {64, 48, 96, 1},  {129, 65, 33, 1}, {256, 512, 384, 1},
                           {96, 40, 64, 3}, {100, 24, 32, 7}, {3, 16, 8, 5}};
  for (const DType type : {DType::bf16, DType::fp16, DType::fp32})
    for (const bool accumulate : {false, true})
      c.check(
          fmt::format("products, {}{}", core::name(type), accumulate ? ", added to fp32" : ""),
          [&]() -> std::string {
            for (const Shape& s : kShapes) {
              const device::GemmCall call{
                  .dtype = type, .m = s.m, .n = s.n, .k = s.k, .groups = s.groups, .accumulate = accumulate};
              if (std::string problem = productOf(c, call); !problem.empty())
                return fmt::format("{} x {} x {}, {} groups: {}", s.m, s.n, s.k, s.groups, problem);
            }
            return {};
          });
  if (c.facts.computeCapability < 89)
    return c.table.skip("products, fp8", "the device has no fp8 tensor cores");
  for (const bool accumulate : {false, true})
    c.check(accumulate ? "products, fp8, added to fp32" : "products, fp8", [&]() -> std::string {
      for (const Shape& s : {Shape{64, 48, 96, 1}, Shape{128, 256, 512, 1}, Shape{96, 64, 64, 3}}) {
        const device::GemmCall call{
            .dtype = DType::fp8, .m = s.m, .n = s.n, .k = s.k, .groups = s.groups, .accumulate = accumulate};
        if (std::string problem = productOf(c, call); !problem.empty())
          return fmt::format("{} x {} x {}, {} groups: {}", s.m, s.n, s.k, s.groups, problem);
      }
      return {};
    });
}

void checkAttention(const CheckContext& c) {
  if (!c.computes)
    return c.table.skip("attention against the host", "this device does not compute attention");
  for (const bool backward : {false, true})
    c.check(backward ? "attention, backward" : "attention, forward", [&]() -> std::string {
      device::AttentionCall call{.dtype = DType::bf16, .backward = backward, .batch = 2, .sequence = 67};
      call.heads = 4, call.kvHeads = 2, call.headDim = 32;
      for (const bool causal : {true, false}) {
        call.causal = causal;
        if (std::string problem = attentionOf(c, call); !problem.empty()) return problem;
      }
      call.causal = true, call.headDimValue = 16, call.window = 20, call.batch = 1;
      return attentionOf(c, call);
    });
}

void checkNewtonSchulz(const CheckContext& c) {
  if (!c.computes)
    return c.table.skip("Newton-Schulz against the host", "this device does not compute products");
  c.check("Newton-Schulz, wide, square and tall", [&]() -> std::string {
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{48, 96}, {64, 64}, {80, 40}}) {
      const std::int64_t side = std::max(rows, columns);
      DeviceBuffer x(c.api, c.stream, DType::bf16, rows * columns),
          scratch(c.api, c.stream, DType::bf16, 3 * side * side);
      const auto values = c.randomValues(DType::bf16, rows * columns);
      x.write(values);
      require(c.api.newtonSchulz(x.data(), rows, columns, 5, scratch.data(), c.stream));
      // The host works on the wide side: the iteration of the transpose is the transpose's.
      const bool wide = rows <= columns;
      const auto at = [&](std::int64_t i, std::int64_t j) {
        return static_cast<std::size_t>(wide ? i * columns + j : j * rows + i);
      };
      std::vector<double> start(values.size());
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          start[at(i, j)] = values[static_cast<std::size_t>(i * columns + j)];
      const auto expected = newtonSchulz(start, std::min(rows, columns), side, 5);
      const auto found = x.read();
      double apart = 0, size = 0;
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          const double e = expected[at(i, j)], f = found[static_cast<std::size_t>(i * columns + j)];
          apart += (e - f) * (e - f);
          size += e * e;
        }
      // bf16 keeps 8 bits, and five rounds pass errors on.
      if (!(std::sqrt(apart / size) < 0.1))
        return fmt::format("{} x {}: relative error {:.3g}", rows, columns, std::sqrt(apart / size));
      if (!x.guardsIntact() || !scratch.guardsIntact()) return "memory around was overwritten";
    }
    return {};
  });
}

}  // namespace vsim::gpu::cuda
