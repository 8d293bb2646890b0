#include "sim/compute/kernel_model.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "sim/cluster/gpu_catalogue.h"

using namespace vsim;
using core::Operation;
using core::OpKind;

namespace {

sim::KernelModel modelFor(const std::string& gpu, sim::KernelSoftware software = {}) {
  auto parameters = sim::KernelModel::loadParameters();
  REQUIRE(parameters);
  const core::GpuSpec* spec = sim::findGpu(gpu);
  REQUIRE(spec);
  return {*spec, std::move(*parameters), std::move(software)};
}

Operation gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  Operation op;
  op.kind = OpKind::gemm;
  op.m = m;
  op.n = n;
  op.k = k;
  return op;
}

Operation attention(OpKind kind, std::int64_t batch, std::int64_t sequence, std::int64_t heads) {
  Operation op;
  op.kind = kind;
  op.batch = batch;
  op.sequence = sequence;
  op.heads = heads;
  op.headDim = 128;
  return op;
}

Operation memory(core::MemoryOp what, core::Bytes bytes) {
  Operation op;
  op.memoryOp = what;
  op.bytesRead = bytes;
  return op;
}

double seconds(const sim::KernelModel& model, const Operation& op) {
  return core::secondsFromPicoseconds(model.cost(op).time);
}

/// Causal work of forward attention.
double forwardFlops(const Operation& op) {
  const auto s = static_cast<double>(op.sequence);
  return 2.0 * static_cast<double>(op.batch * op.heads * op.headDim) * s * s;
}

}  // namespace

TEST_CASE("no kernel is faster than its board's peaks") {
  std::mt19937_64 random(7);
  const auto size = [&](double lowest, double highest) {
    std::uniform_real_distribution<double> exponent(std::log2(lowest), std::log2(highest));
    return static_cast<std::int64_t>(std::exp2(exponent(random)));
  };
  for (const std::string& name : sim::gpuNames()) {
    const sim::KernelModel model = modelFor(name);
    const core::GpuSpec& gpu = model.gpu();
    INFO(name);
    for (int i = 0; i < 200; ++i) {
      const Operation product = gemm(size(1, 1e5), size(1, 1e5), size(1, 1e5));
      const double flops = 2.0 * static_cast<double>(product.m) * static_cast<double>(product.n) *
                           static_cast<double>(product.k);
      CHECK(seconds(model, product) >= flops / gpu.peakBf16 * 0.999999);
      const Operation attend =
          attention(OpKind::attentionForward, size(1, 16), size(16, 65536), size(1, 128));
      CHECK(seconds(model, attend) >= forwardFlops(attend) / gpu.peakBf16 * 0.999999);
      const core::Bytes bytes = size(6.1e7, 1e11);
      for (int what = 0; what < 14; ++what)
        CHECK(seconds(model, memory(static_cast<core::MemoryOp>(what), bytes)) >=
              static_cast<double>(bytes) / gpu.hbmBytesPerSecond);
    }
  }
}

TEST_CASE("larger products take longer on average") {
  for (const char* name : {"A100-SXM-80GB", "H100-SXM", "H200-SXM", "B200-SXM"}) {
    const sim::KernelModel model = modelFor(name);
    double previous = 0;
    for (std::int64_t scale = 512; scale <= 32768; scale *= 2) {
      // The mean over neighbouring sizes smooths tile and wave steps.
      double mean = 0;
      for (int step = 0; step < 8; ++step) {
        const std::int64_t size = scale + step * scale / 8;
        mean += seconds(model, gemm(size, size, size)) / 8;
      }
      CHECK(mean > previous);
      previous = mean;
    }
  }
}

TEST_CASE("small shapes take the floor") {
  const sim::KernelModel model = modelFor("H100-SXM");
  for (const double time :
       {seconds(model, gemm(1, 1, 1)), seconds(model, gemm(0, 128, 128)), seconds(model, gemm(1, 64, 64))}) {
    CHECK(time > 0.5e-6);
    CHECK(time < 8e-6);
  }
  CHECK(seconds(model, memory(core::MemoryOp::norm, 0)) > 0.2e-6);
  CHECK(seconds(model, attention(OpKind::attentionForward, 0, 0, 0)) > 1e-6);
  Operation grouped = gemm(0, 1024, 1024);
  grouped.kind = OpKind::groupedGemm;
  grouped.groups = 8;
  CHECK(seconds(model, grouped) > 0.2e-6);
}

TEST_CASE("a row vector is bound by reading the matrix") {
  const sim::KernelModel model = modelFor("A100-SXM-80GB");
  const double time = seconds(model, gemm(1, 8192, 8192));
  const double bytes = 2.0 * 8192 * 8192;
  CHECK(bytes / time < 2039e9);
  CHECK(bytes / time > 0.3 * 2039e9);
}

TEST_CASE("huge shapes saturate instead of overflowing") {
  const sim::KernelModel model = modelFor("B200-SXM");
  const std::int64_t huge = 1'000'000'000'000'000;
  for (const OpKind kind : {OpKind::gemm, OpKind::groupedGemm}) {
    Operation op = gemm(huge, huge, huge);
    op.kind = kind;
    op.groups = 1 << 20;
    CHECK(model.cost(op).time == std::numeric_limits<core::Picoseconds>::max());
  }
  CHECK(model.cost(attention(OpKind::attentionBackward, huge, huge, huge)).time ==
        std::numeric_limits<core::Picoseconds>::max());
}

TEST_CASE("count repeats a launch") {
  const sim::KernelModel model = modelFor("H100-SXM");
  Operation one = gemm(4096, 4096, 4096), five = one;
  five.count = 5;
  CHECK(std::abs(model.cost(five).time - 5 * model.cost(one).time) <= 5);
  Operation copy = memory(core::MemoryOp::copy, 1 << 20), copies = memory(core::MemoryOp::copy, 4 << 20);
  copies.count = 4;  // bytes are those of all launches
  CHECK(std::abs(model.cost(copies).time - 4 * model.cost(copy).time) <= 4);
}

TEST_CASE("unbalanced groups take longer than balanced ones") {
  Operation op = gemm(32768, 2048, 4096);
  op.kind = OpKind::groupedGemm;
  op.groups = 128;
  const double balanced = seconds(modelFor("H100-SXM"), op);
  const double skewed = seconds(modelFor("H100-SXM", {.routingExponent = 1.2}), op);
  CHECK(skewed > balanced);
  CHECK(skewed < 3 * balanced);
}

TEST_CASE("attention libraries keep their order on Hopper") {
  const auto rate = [](const std::string& library) {
    const Operation op = attention(OpKind::attentionForward, 2, 8192, 32);
    return forwardFlops(op) / seconds(modelFor("H100-SXM", {.attention = library}), op) / 1e12;
  };
  CHECK(rate("eager") < rate("triton"));
  CHECK(rate("triton") < rate("flash2"));
  CHECK(rate("flash2") < rate("flash3"));
  // FlashAttention-2 and -3 papers (arXiv:2407.08608, figure 5: causal, head size 128, 8k).
  CHECK(rate("flash2") == Approx(330).epsilon(0.15));
  CHECK(rate("flash3") == Approx(640).epsilon(0.15));
  CHECK(rate("") == rate("flash3"));
}

TEST_CASE("older libraries are slower and capped boards too") {
  const Operation op = gemm(8192, 8192, 8192);
  CHECK(seconds(modelFor("H100-SXM", {.year = 2023}), op) >
        1.05 * seconds(modelFor("H100-SXM", {.year = 2026}), op));
  CHECK(seconds(modelFor("H100-SXM-500W"), op) > 1.1 * seconds(modelFor("H100-SXM"), op));
}

TEST_CASE("costs say what they rest on") {
  const core::Cost cost = modelFor("H100-SXM").cost(gemm(4096, 4096, 4096));
  CHECK(cost.provenance == core::Provenance::modelled);
  CHECK(cost.relativeError > 0.01);
  CHECK(cost.relativeError < 0.3);
  CHECK(cost.slowdown == 1);
}

TEST_CASE("every board of the catalogue has a model for every kind of kernel") {
  for (const std::string& name : sim::gpuNames()) {
    INFO(name);
    const sim::KernelModel model = modelFor(name);
    for (const core::DType type :
         {core::DType::bf16, core::DType::fp16, core::DType::fp32, core::DType::fp8}) {
      Operation op = gemm(4096, 4096, 4096);
      op.dtype = type;
      CHECK(model.cost(op).time > 0);
      op.kind = OpKind::groupedGemm;
      op.groups = 8;
      CHECK(model.cost(op).time > 0);
    }
    CHECK(model.cost(attention(OpKind::attentionBackward, 1, 4096, 32)).time >
          model.cost(attention(OpKind::attentionForward, 1, 4096, 32)).time);
  }
}
