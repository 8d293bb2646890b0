// What the device executor's host side adds to a step: whole calls of execute() with one rank, on a device
// whose calls do nothing. per_instruction is the time of one instruction of the program, all kinds together;
// setting up, threads, the checks of the program and the log are part of it.

#include <benchmark/benchmark.h>

#include "bench/fsdp_like_program.h"
#include "bench/null_device.h"
#include "gpu/device/device_machine.h"
#include "sim/memory/caching_allocator.h"

namespace {

using namespace vsim;

/// The program for one rank.
std::shared_ptr<const core::StepProgram> alone(std::shared_ptr<const core::StepProgram> program) {
  auto changed = std::make_shared<core::StepProgram>(*program);
  for (core::CommGroup& group : changed->groups) group.size = group.stride = 1;
  return changed;
}

void deviceExecutor(benchmark::State& state) {
  const auto program = alone(bench::fsdpLikeProgram(100, 10));
  const auto job = gpu::singleProcessJob();
  gpu::device::DeviceOptions options;
  options.makeMemory = [](core::SegmentSource& source) -> std::unique_ptr<core::MemoryModel> {
    return std::move(*sim::CachingAllocator::onRealMemory({}, source));
  };
  auto machine =
      gpu::device::DeviceMachine::open(std::make_shared<bench::NullDevice>(), *job, std::move(options));
  if (!machine) return state.SkipWithError(machine.error().text().c_str());
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    const auto log = (*machine)->execute(program, static_cast<int>(state.range(0)));
    if (!log) return state.SkipWithError(log.error().text().c_str());
    instructions += log->instructionsExecuted;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
  state.counters["per_instruction"] = benchmark::Counter(
      static_cast<double>(instructions), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(deviceExecutor)->ArgName("steps")->Arg(1)->Arg(10)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
