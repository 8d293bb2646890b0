#include <benchmark/benchmark.h>

#include "sim/cluster/gpu_catalogue.h"
#include "sim/compute/kernel_model.h"

namespace {

using namespace vsim;

sim::KernelModel h100() { return {*sim::findGpu("H100-SXM"), *sim::KernelModel::loadParameters()}; }

void kernelCost(benchmark::State& state, core::OpKind kind) {
  const sim::KernelModel model = h100();
  core::Operation op;
  op.kind = kind;
  op.m = op.n = op.k = 4096;
  op.groups = kind == core::OpKind::groupedGemm ? 64 : 1;
  op.batch = 1;
  op.sequence = 4096;
  op.heads = op.kvHeads = 32;
  op.headDim = 128;
  op.bytesRead = op.bytesWritten = 1 << 28;
  for (auto _ : state) {
    benchmark::DoNotOptimize(op);
    benchmark::DoNotOptimize(model.cost(op).time);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(kernelCost, gemm, core::OpKind::gemm);
BENCHMARK_CAPTURE(kernelCost, groupedGemm, core::OpKind::groupedGemm);
BENCHMARK_CAPTURE(kernelCost, attentionForward, core::OpKind::attentionForward);
BENCHMARK_CAPTURE(kernelCost, attentionBackward, core::OpKind::attentionBackward);
BENCHMARK_CAPTURE(kernelCost, memory, core::OpKind::memory);

void kernelParametersRead(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(sim::KernelModel::loadParameters());
}
BENCHMARK(kernelParametersRead)->Unit(benchmark::kMicrosecond);

}  // namespace
