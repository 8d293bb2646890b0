#include <benchmark/benchmark.h>

#include "bench/fsdp_like_program.h"
#include "sim/engine/simulator.h"
#include "sim/memory/caching_allocator.h"

namespace {

using namespace vsim;

constexpr core::Bytes kCapacity = core::Bytes{1} << 40;  // steady state: nothing is given back

sim::SimulatorOptions options(sim::Keep slices, sim::Keep memory) {
  sim::SimulatorOptions options;
  options.makeMemory = [] {
    sim::AllocatorOptions allocator;
    allocator.capacity = kCapacity;
    return std::make_unique<sim::CachingAllocator>(allocator);
  };
  options.slices = slices;
  options.memory = memory;
  return options;
}

// items_per_second = instructions per second; whole calls of execute(), tables and allocator included.
void engine(benchmark::State& state, sim::Keep slices, sim::Keep memory, double slowdown) {
  const auto program = bench::fsdpLikeProgram(40, 24);
  sim::Simulator simulator(bench::fsdpLikeCosts(*program, slowdown), options(slices, memory));
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    auto log = simulator.execute(program, static_cast<int>(state.range(0)));
    if (!log) {
      state.SkipWithError(log.error().text().c_str());
      return;
    }
    instructions += log->instructionsExecuted;
    benchmark::DoNotOptimize(log->ranks[0].peak);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
  state.counters["instructions_per_step"] = static_cast<double>(program->step.size());
}

BENCHMARK_CAPTURE(engine, peaks_only, sim::Keep::nothing, sim::Keep::nothing, 0.0)->Arg(3)->Arg(20);
BENCHMARK_CAPTURE(engine, peaks_only_interference, sim::Keep::nothing, sim::Keep::nothing, 0.15)
    ->Arg(3)
    ->Arg(20);
BENCHMARK_CAPTURE(engine, last_step, sim::Keep::lastStep, sim::Keep::lastStep, 0.15)->Arg(3)->Arg(20);
BENCHMARK_CAPTURE(engine, everything, sim::Keep::everything, sim::Keep::everything, 0.15)->Arg(3)->Arg(20);

// Time of one allocate plus one release while `live` other blocks come and go in turn.
void mallocFree(benchmark::State& state) {
  sim::CachingAllocator allocator;
  const auto live = static_cast<std::size_t>(state.range(0));
  std::vector<std::uint64_t> held(live);
  std::uint64_t random = 12345;
  const auto size = [&] {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<core::Bytes>(random >> 38) + 1;  // up to 64 MiB
  };
  for (auto& address : held) address = allocator.allocate(size(), 0)->address;
  std::size_t at = 0;
  for (auto _ : state) {
    allocator.release(held[at]);
    held[at] = allocator.allocate(size(), 0)->address;
    at = at + 1 == live ? 0 : at + 1;
  }
  state.SetItemsProcessed(state.iterations() * 2);
  state.counters["segments"] = static_cast<double>(allocator.statistics().all.segment.current);
}
BENCHMARK(mallocFree)->Arg(16)->Arg(128)->Arg(1024);

}  // namespace
