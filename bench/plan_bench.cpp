#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/dbuffer/dbuffer.h"
#include "core/plan/bounds.h"
#include "core/plan/granularity.h"
#include "core/plan/order_search.h"
#include "core/plan/planner.h"
#include "core/plan/verifier.h"

namespace {

using namespace vsim::core;

/// Adds tensors by name and shape; blocks by one rule.
class Bucket {
 public:
  Bucket(std::int64_t devices, BlockRule rule) : rule_(std::move(rule)) {
    problem_.devices = devices;
    problem_.unit = problem_.align = 8;  // 16 bytes of bf16
  }
  Bucket& add(std::string name, std::vector<std::int64_t> shape) {
    std::int64_t elements = 1;
    for (const std::int64_t size : shape) elements *= size;
    const std::int64_t block = *blockElements(rule_, shape);
    problem_.tensors.push_back(
        {.name = std::move(name), .shape = std::move(shape), .elements = elements, .block = block});
    return *this;
  }
  Bucket& experts(std::int64_t count, std::int64_t hidden, std::int64_t intermediate) {
    for (std::int64_t e = 0; e < count; ++e) gated(fmt::format("experts.{}", e), hidden, intermediate);
    return *this;
  }
  Bucket& gated(const std::string& name, std::int64_t hidden, std::int64_t intermediate) {
    return add(name + ".gate_proj", {intermediate, hidden})
        .add(name + ".up_proj", {intermediate, hidden})
        .add(name + ".down_proj", {hidden, intermediate});
  }
  [[nodiscard]] LayoutProblem take() { return std::move(problem_); }

 private:
  BlockRule rule_;
  LayoutProblem problem_;
};

// DeepSeek-V3 (arXiv 2412.19437 and its published config.json): hidden 7168, MLA ranks 1536 and 512, 128
// heads of 128 + 64 and 128, 3 dense layers of 18,432, 58 layers of 256 experts and a shared one of 2,048.
std::vector<LayoutProblem> deepSeekV3(std::int64_t devices, std::int64_t rows) {
  const BlockRule rule{.rows = rows};
  std::vector<LayoutProblem> buckets;
  buckets.push_back(Bucket(devices, rule)
                        .add("embed_tokens", {129280, 7168})
                        .add("norm", {7168})
                        .add("lm_head", {129280, 7168})
                        .take());
  for (int layer = 0; layer < 61; ++layer) {
    Bucket bucket(devices, rule);
    bucket.add("input_layernorm", {7168})
        .add("q_a_proj", {1536, 7168})
        .add("q_a_layernorm", {1536})
        .add("q_b_proj", {24576, 1536})
        .add("kv_a_proj_with_mqa", {576, 7168})
        .add("kv_a_layernorm", {512})
        .add("kv_b_proj", {32768, 512})
        .add("o_proj", {7168, 16384})
        .add("post_attention_layernorm", {7168});
    if (layer < 3)
      bucket.gated("mlp", 7168, 18432);
    else
      bucket.add("mlp.gate", {256, 7168})
          .add("mlp.gate.bias", {256})
          .experts(256, 7168, 2048)
          .gated("shared_experts", 7168, 2048);
    buckets.push_back(bucket.take());
  }
  return buckets;
}

// The routed experts of one rank of vescale-moe-800b (hidden 7168, 256 experts of 2,048; 64 expert ranks).
LayoutProblem expertUnit(std::int64_t experts, std::int64_t devices, std::int64_t rows) {
  return Bucket(devices, {.tile = {rows, rows}}).experts(experts, 7168, 2048).take();
}

void planAllBuckets(benchmark::State& state) {
  const auto buckets = deepSeekV3(state.range(0), state.range(1));
  double padding = 0;
  for (auto _ : state) {
    const auto layouts = planAll(buckets);
    padding = layouts->back().paddingRatio();
    benchmark::DoNotOptimize(layouts->data());
  }
  state.counters["moe_padding_percent"] = 100 * padding;
}
BENCHMARK(planAllBuckets)
    ->Name("planner/deepseek_v3_all_buckets")
    ->ArgNames({"devices", "rows"})
    ->ArgsProduct({{64, 256, 1024, 10'240, 100'000}, {1, 16, 128}})
    ->Unit(benchmark::kMillisecond);

// The given and the sorted orders take less than 150,000 placements for the three kinds of buckets; the
// default budget adds beams and the exact program.
void searchAllBuckets(benchmark::State& state) {
  const auto buckets = deepSeekV3(state.range(0), state.range(1));
  const SearchOptions options{.placements = state.range(2)};
  double padding = 0, placements = 0, proven = 0;
  for (auto _ : state) {
    const auto results = searchAll(buckets, options);
    padding = results->back().layout.paddingRatio();
    placements = proven = 0;
    for (const SearchResult& result : *results) {
      placements += static_cast<double>(result.placementsTried);
      proven += result.provenOptimal ? 1 : 0;
    }
  }
  state.counters["moe_padding_percent"] = 100 * padding;
  state.counters["placements"] = placements;
  state.counters["proven_buckets"] = proven;
}
BENCHMARK(searchAllBuckets)
    ->Name("planner/deepseek_v3_search")
    ->ArgNames({"devices", "rows", "placements"})
    ->ArgsProduct({{64, 256, 1024, 10'240, 100'000}, {1, 16, 128}, {150'000, SearchOptions{}.placements}})
    ->Unit(benchmark::kMillisecond);

void planExperts(benchmark::State& state) {
  const LayoutProblem problem = expertUnit(state.range(0), state.range(1), 32);
  double padding = 0;
  for (auto _ : state) {
    const auto layout = planGivenOrder(problem);
    padding = layout->paddingRatio();
    benchmark::DoNotOptimize(layout->offsets.data());
  }
  state.counters["padding_percent"] = 100 * padding;
}
BENCHMARK(planExperts)
    ->Name("planner/vescale_800b_experts_tile32")
    ->ArgNames({"experts", "devices"})
    ->Args({4, 16})
    ->Args({256, 1024})
    ->Unit(benchmark::kMicrosecond);

// As many tensors as a whole model has, no two equal blocks in a row: how the cost grows.
void planManyTensors(benchmark::State& state) {
  const LayoutProblem problem = expertUnit(state.range(0), 1024, 32);
  for (auto _ : state) benchmark::DoNotOptimize(planGivenOrder(problem)->offsets.data());
  state.SetComplexityN(state.range(0));
}
BENCHMARK(planManyTensors)
    ->Name("planner/many_experts")
    ->RangeMultiplier(4)
    ->Range(256, 16'384)
    ->Complexity(benchmark::oN)
    ->Unit(benchmark::kMicrosecond);

void verify(benchmark::State& state) {
  const LayoutProblem problem = deepSeekV3(state.range(0), 128).back();
  const Layout layout = *planGivenOrder(problem);
  for (auto _ : state) benchmark::DoNotOptimize(verifyLayout(problem, layout).size());
}
BENCHMARK(verify)
    ->Name("verifier/deepseek_v3_moe_layer")
    ->Arg(1024)
    ->Arg(100'000)
    ->Unit(benchmark::kMicrosecond);

void makeDBuffer(benchmark::State& state) {
  const LayoutProblem problem = deepSeekV3(1024, 128).back();
  const Layout layout = *planGivenOrder(problem);
  std::int64_t rank = 0;
  for (auto _ : state) {
    const auto buffer = DBuffer::make(problem.tensors, layout);
    benchmark::DoNotOptimize(buffer->parts(rank++ % 1024).size());
  }
}
BENCHMARK(makeDBuffer)->Name("dbuffer/deepseek_v3_moe_layer")->Unit(benchmark::kMicrosecond);

}  // namespace
