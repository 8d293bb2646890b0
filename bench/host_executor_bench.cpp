// What the host executor adds to the work: whole calls of execute() with one rank and kernels that do
// nothing. items_per_second = instructions per second, so that its inverse is the overhead per instruction;
// threads and the checks of the program are part of it. handOver is what the machine asks for waking another
// thread, as a measure of the rest.

#include <benchmark/benchmark.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/program/builder.h"
#include "gpu/host/host_executor.h"

namespace {

using namespace vsim;
using core::Index;
using core::StreamId;

using Program = std::shared_ptr<const core::StepProgram>;

constexpr int kRounds = 2000;

/// Kernels with an operation of no size, so that they are logged as real ones are.
class Sketch {
 public:
  explicit Sketch(int streams) : builder_("empty") {
    for (int s = 0; s < streams; ++s) builder_.stream("stream " + std::to_string(s));
    operation_ = builder_.operation({.name = "nothing"});
    builder_.beginStep();
  }
  void kernel(StreamId stream) { builder_.launch(builder_.kernel({.operation = operation_}), stream); }
  void order(StreamId before, StreamId after) { builder_.wait(after, builder_.record(before)); }
  void hostWaits(StreamId stream) { builder_.hostWait(builder_.record(stream)); }
  Index allocate(StreamId pool) {
    core::Buffer buffer{.name = "buffer", .stream = pool, .elements = 64};
    const Index index = builder_.buffer(buffer);
    builder_.allocate(index);
    return index;
  }
  void release(Index buffer) { builder_.release(buffer); }
  Program take() && { return std::make_shared<const core::StepProgram>(std::move(builder_).take()); }

 private:
  core::ProgramBuilder builder_;
  Index operation_ = 0;
};

Program kernelsOnOneStream() {
  Sketch sketch(1);
  for (int i = 0; i < 10 * kRounds; ++i) sketch.kernel(0);
  return std::move(sketch).take();
}

/// As a gathering, a computing, a reducing and a replicating stream wait for each other.
Program eventsAcrossStreams() {
  constexpr StreamId kStreams = 4;
  Sketch sketch(kStreams);
  for (int i = 0; i < kRounds; ++i)
    for (StreamId s = 0; s < kStreams; ++s) {
      sketch.kernel(s);
      sketch.order(s, static_cast<StreamId>((s + 1) % kStreams));
    }
  return std::move(sketch).take();
}

Program allocations() {
  Sketch sketch(1);
  for (int i = 0; i < kRounds; ++i) {
    const Index saved = sketch.allocate(0), scratch = sketch.allocate(0);
    sketch.kernel(0);
    sketch.release(scratch);
    sketch.kernel(0);
    sketch.release(saved);
  }
  return std::move(sketch).take();
}

/// The host comes back for every kernel: two hand-overs for three instructions.
Program hostWaits() {
  Sketch sketch(1);
  for (int i = 0; i < kRounds; ++i) {
    sketch.kernel(0);
    sketch.hostWaits(0);
  }
  return std::move(sketch).take();
}

/// In the proportions of a training step: mostly kernels, each with memory of its own, and a few waits.
Program step() {
  Sketch sketch(3);
  for (int layer = 0; layer < kRounds / 4; ++layer) {
    const Index gathered = sketch.allocate(1);
    sketch.kernel(1);
    sketch.order(1, 0);
    for (int k = 0; k < 12; ++k) {
      const Index scratch = sketch.allocate(0);
      sketch.kernel(0);
      sketch.release(scratch);
    }
    sketch.order(0, 2);
    sketch.kernel(2);
    sketch.order(0, 1);
    sketch.release(gathered);
  }
  return std::move(sketch).take();
}

void hostExecutor(benchmark::State& state, Program (*make)()) {
  const Program program = make();
  gpu::HostExecutor executor({.ranks = 1});
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    const auto log = executor.execute(program, 1);
    if (!log) {
      state.SkipWithError(log.error().text().c_str());
      return;
    }
    instructions += log->instructionsExecuted;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
  state.counters["per_instruction"] = benchmark::Counter(
      static_cast<double>(instructions), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(hostExecutor, kernels, kernelsOnOneStream)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hostExecutor, events, eventsAcrossStreams)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hostExecutor, allocations, allocations)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hostExecutor, step, step)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hostExecutor, host_waits, hostWaits)->UseRealTime()->Unit(benchmark::kMillisecond);

/// One thread wakes another through a mutex and a condition variable, which then wakes it in turn.
void handOver(benchmark::State& state) {
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;  // 0: here, 1: there, 2: the end
  std::thread other([&] {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return turn != 0; });
      if (turn == 2) return;
      turn = 0;
      changed.notify_one();
    }
  });
  for (auto _ : state) {
    std::unique_lock lock(mutex);
    turn = 1;
    changed.notify_one();
    changed.wait(lock, [&] { return turn == 0; });
  }
  {
    const std::lock_guard lock(mutex);
    turn = 2;
  }
  changed.notify_one();
  other.join();
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(handOver)->UseRealTime();

}  // namespace
