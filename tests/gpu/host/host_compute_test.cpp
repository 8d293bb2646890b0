// The work that the host does for an operation: as much as it says, and in proportion to the operation's.

#include "gpu/host/host_compute.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "core/scenario/reader.h"
#include "core/train/system.h"
#include "tests/folders.h"

using namespace vsim;
using namespace vsim::core;
using gpu::HostCompute;
using gpu::HostWork;
using gpu::workOf;

namespace {

Operation product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t groups = 0) {
  Operation op;
  op.kind = groups > 0 ? OpKind::groupedGemm : OpKind::gemm;
  op.m = m;
  op.n = n;
  op.k = k;
  op.groups = std::max<std::int64_t>(groups, 1);
  op.flops = op.causalFlops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  return op;
}

Operation traffic(Bytes read, Bytes written) {
  Operation op;
  op.bytesRead = read;
  op.bytesWritten = written;
  return op;
}

Operation attention(std::int64_t sequence, std::int64_t window, bool causal, bool backward) {
  Operation op;
  op.kind = backward ? OpKind::attentionBackward : OpKind::attentionForward;
  op.batch = 2;
  op.heads = 6;
  op.kvHeads = 2;
  op.sequence = sequence;
  op.window = window;
  op.causal = causal;
  op.headDim = 96;
  op.headDimValue = 64;
  double pairs = 0;  // counted one by one
  for (std::int64_t row = 0; row < sequence; ++row) {
    const std::int64_t reach = window > 0 ? window : sequence;
    const std::int64_t before = std::min(row + 1, reach), after = std::min(sequence - row, reach) - 1;
    pairs += static_cast<double>(causal ? before : before + after);
  }
  const double perPair = 2.0 * (backward ? 3 * 96 + 2 * 64 : 96 + 64);
  op.causalFlops = perPair * 12 * pairs;
  return op;
}

double share(const Operation& op, double scale) {
  const HostWork work = workOf(op, scale);
  if (op.kind == OpKind::memory)
    return work.bytes / (scale * static_cast<double>(op.bytesRead + op.bytesWritten));
  return work.flops / (scale * op.causalFlops * op.count);
}

/// Work really done by one run.
HostWork measured(const Operation& op, double scale) {
  HostCompute compute(scale, Bytes{1} << 16U);
  compute.prepare(op);
  compute.run(op);
  const HostWork once = compute.done();
  compute.run(op);
  CHECK(compute.done().flops == Approx(2 * once.flops).epsilon(1e-12));
  CHECK(compute.done().bytes == 2 * once.bytes);
  CHECK(std::isfinite(compute.result()));
  return once;
}

void checkDone(const Operation& op, double scale) {
  INFO(op.name << ", kind " << static_cast<int>(op.kind) << ", scale " << scale << ", m " << op.m << ", n "
               << op.n << ", k " << op.k << ", groups " << op.groups << ", count " << op.count
               << ", sequence " << op.sequence << ", window " << op.window);
  const HostWork said = workOf(op, scale), done = measured(op, scale);
  CHECK(done.flops == Approx(said.flops).epsilon(1e-12));
  CHECK(done.bytes == said.bytes);
}

constexpr double kFewPercent = 0.03;

}  // namespace

TEST_CASE("the work of large operations is the scale's part of theirs") {
  const std::vector<Operation> operations{
      product(4096, 14336, 4096),
      product(8192, 128, 8192),
      product(1, 4096, 4096),
      product(16384, 2048, 7168, 64),
      attention(4096, 0, true, false),
      attention(4096, 0, true, true),
      attention(4096, 0, false, false),
      attention(8192, 1024, true, false),
      attention(8192, 1024, false, true),
      traffic(Bytes{1} << 30U, Bytes{1} << 29U),
      traffic(0, Bytes{1} << 30U),
  };
  for (const Operation& op : operations)
    for (const double scale : {1.0, 0.5, 0.1, 0.01, 0.001}) {
      INFO("kind " << static_cast<int>(op.kind) << ", m " << op.m << ", sequence " << op.sequence
                   << ", window " << op.window << ", causal " << op.causal << ", scale " << scale);
      CHECK(share(op, scale) == Approx(1).margin(kFewPercent));
    }
}

TEST_CASE("the whole operation is computed as it is") {
  const gpu::HostProduct whole = gpu::productOf(product(300, 70, 41), 1);
  CHECK((whole.m == 300 && whole.n == 70 && whole.k == 41 && whole.groups == 1 && whole.launches == 1));
  CHECK(workOf(product(300, 70, 41), 1).flops == 2.0 * 300 * 70 * 41);
  CHECK(workOf(product(300, 70, 41), 7).flops == 2.0 * 300 * 70 * 41);  // never more than the operation
  Operation twice = product(300, 70, 41);
  twice.count = 2;
  CHECK(workOf(twice, 1).flops == 4.0 * 300 * 70 * 41);
  CHECK(workOf(traffic(4000, 800), 1).bytes == 4800);
}

TEST_CASE("sizes shrink alike, and make up for each other's rounding") {
  const gpu::HostProduct shape = gpu::productOf(product(1000, 500, 2000), 0.001);
  CHECK((shape.m == 100 && shape.n == 50 && shape.k == 200));
  const gpu::HostProduct thin = gpu::productOf(product(1000, 2, 1000), 0.001);
  CHECK(thin.n == 1);
  CHECK(thin.flops() == Approx(2 * 2000).epsilon(0.05));
  const gpu::HostProduct least = gpu::productOf(product(5, 5, 5), 1e-9);
  CHECK((least.m == 1 && least.n == 1 && least.k == 1));
  CHECK(gpu::productOf(product(1000, 64, 64, 90), 1e-3).groups == 90);
  CHECK(gpu::productOf(product(1000, 64, 64, 900), 1e-3).groups ==
        gpu::productOf(product(1000, 64, 64), 1e-3).m);
}

TEST_CASE("what is done is what workOf says") {
  for (const double scale : {1.0, 0.1, 1e-3, 1e-6}) {
    checkDone(product(120, 90, 75), scale);
    checkDone(product(1, 90, 75), scale);
    checkDone(product(90, 1, 75), scale);
    checkDone(product(90, 75, 1), scale);
    checkDone(product(100, 30, 20, 7), scale);
    checkDone(product(3, 30, 20, 7), scale);
    for (const bool causal : {true, false})
      for (const bool backward : {true, false}) {
        checkDone(attention(1, 0, causal, backward), scale);
        checkDone(attention(200, 0, causal, backward), scale);
        checkDone(attention(300, 33, causal, backward), scale);
      }
    checkDone(traffic(1 << 20, 1 << 19), scale);  // many times over the scratch
    checkDone(traffic(1 << 18, 1 << 20), scale);
    checkDone(traffic(1 << 20, 0), scale);
    checkDone(traffic(0, 4), scale);
    checkDone(traffic(1, 1), scale);
  }
  // Beyond the sides of the tiles that products are made in, and the rows that keys are kept in.
  checkDone(product(1030, 1025, 3), 1);
  checkDone(product(2, 3, 2500), 1);
  checkDone(attention(4700, 70, true, true), 1e-2);
}

TEST_CASE("random operations: what is done is what workOf says") {
  std::mt19937 random(11);
  const auto pick = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % most); };
  for (int i = 0; i < 200; ++i) {
    Operation op;
    op.kind = static_cast<OpKind>(pick(5));
    op.count = static_cast<int>(pick(3));
    op.m = pick(150);
    op.n = pick(150);
    op.k = pick(150);
    op.groups = pick(20);
    op.batch = pick(3);
    op.heads = pick(4);
    op.kvHeads = 1;
    op.sequence = pick(300);
    op.window = pick(3) == 0 ? pick(300) : 0;
    op.causal = pick(2) == 0;
    op.headDim = pick(70);
    op.headDimValue = pick(70);
    op.bytesRead = pick(300'000);
    op.bytesWritten = pick(300'000);
    checkDone(op, std::pow(10.0, -static_cast<double>(pick(7))));
  }
}

TEST_CASE("operations and scales of no size are no work") {
  for (const OpKind kind : {OpKind::gemm, OpKind::groupedGemm, OpKind::attentionForward,
                            OpKind::attentionBackward, OpKind::memory}) {
    Operation op;
    op.kind = kind;
    checkDone(op, 1);
    CHECK(workOf(op, 1).flops == 0);
    CHECK(workOf(op, 1).bytes == 0);
    op = product(10, 10, 10);
    op.kind = kind;
    op.batch = op.heads = op.sequence = op.headDim = op.headDimValue = 10;
    op.bytesRead = op.bytesWritten = 1000;
    for (const double scale : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
      CHECK(workOf(op, scale).flops == 0);
      CHECK(workOf(op, scale).bytes == 0);
      HostCompute compute(scale);
      compute.run(op);
      CHECK(compute.result() == 0);
    }
    op.count = 0;
    CHECK(workOf(op, 1).flops + workOf(op, 1).bytes == 0);
    op.count = 1;
    op.m = op.sequence = op.bytesRead = op.bytesWritten = -5;
    CHECK(workOf(op, 1).flops + workOf(op, 1).bytes == 0);
  }
}

TEST_CASE("results depend on the work, and are the same in every object") {
  std::set<float> results;
  for (const Operation& op : {product(64, 64, 64), product(64, 64, 65), attention(64, 0, true, false),
                              attention(64, 0, true, true), traffic(4096, 4096), traffic(8192, 0)}) {
    HostCompute first(1), second(1);
    first.run(op);
    second.run(op);
    CHECK(first.result() == second.result());
    CHECK(first.result() != 0);
    results.insert(first.result());
  }
  CHECK(results.size() == 6);
}

TEST_CASE("every operation of real programs runs") {
  ReadOptions options;
  options.searchFolders = {VSIM_SOURCE_DIR};
  options.clusterPresets = {"h100-rail-optimized"};
  const auto scenario = readScenario(VSIM_SOURCE_DIR "/scenarios/tiny.yaml", options);
  if (!scenario) FAIL(text(scenario.error()));
  const ModelGraph graph(scenario->model);
  for (const SystemSpec& system : scenario->systems) {
    const auto built = buildProgram(graph, *scenario, system);
    if (!built) FAIL(built.error().text());
    const StepProgram& program = built->program;
    std::set<OpKind> kinds;
    for (const double scale : {0.01, 1e-6}) {
      HostCompute compute(scale);
      Flops flops = 0, wanted = 0;
      double bytes = 0;
      for (const Operation& op : program.operations) {
        kinds.insert(op.kind);
        compute.prepare(op);
        compute.run(op);
        flops += workOf(op, scale).flops;
        bytes += workOf(op, scale).bytes;
        if (op.kind != OpKind::memory) wanted += scale * op.causalFlops;
      }
      CHECK(compute.done().flops == Approx(flops).epsilon(1e-9));
      CHECK(compute.done().bytes == Approx(bytes).epsilon(1e-9));
      CHECK(std::isfinite(compute.result()));
      if (scale == 0.01) CHECK(flops == Approx(wanted).epsilon(kFewPercent));
    }
    CHECK(kinds.size() >= 4);
  }
}
