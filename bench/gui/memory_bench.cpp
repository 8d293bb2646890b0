#include <benchmark/benchmark.h>

#include <QImage>
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "bench/gui/frame_times.h"
#include "gui/model/allocation_list.h"
#include "gui/paint/memory_plot.h"
#include "sim/memory/caching_allocator.h"

// Memory page on a log of 5 million events at 1920 x 1080 with software rendering. Counters are milliseconds
// of one frame, and bytes that the index adds to an event of the log.

namespace {

using namespace vsim;

constexpr std::int64_t kEvents = 5'000'000;
constexpr core::Index kBuffers = 20'000;
constexpr int kWidth = 1920, kHeight = 1080;

/// Buffers of a step's sizes that come and go at random, seeded, through the caching allocator.
std::shared_ptr<core::ExecutionLog> syntheticLog() {
  std::mt19937 random(1);
  auto program = std::make_shared<core::StepProgram>();
  program->streams = {"compute", "copy"};
  for (int i = 0; i < 64; ++i) program->units.push_back({.name = "L" + std::to_string(i)});
  for (core::Index i = 0; i < kBuffers; ++i) {
    core::Buffer buffer;
    buffer.name = "b" + std::to_string(i);
    buffer.unit = static_cast<core::Index>(random() % 64);
    buffer.category = static_cast<core::MemoryCategory>(random() % 8);
    buffer.elements = 1 + static_cast<std::int64_t>(random() % (random() % 20 == 0 ? 20'000'000 : 200'000));
    program->buffers.push_back(buffer);
  }
  program->setup.push_back({.kind = core::InstructionKind::allocate, .operand = 0});
  auto log = std::make_shared<core::ExecutionLog>();
  log->executor = "simulator";
  log->program = program;
  log->ranks.emplace_back();
  sim::CachingAllocator allocator;
  std::vector<std::uint64_t> address(kBuffers);
  core::Picoseconds now = 0;
  for (std::int64_t i = 0; i < kEvents; ++i) {
    // A hundredth of the buffers takes part at a time: layers of a step.
    const auto window = static_cast<core::Index>(i / 20'000 * 100 % kBuffers);
    const core::Index buffer = i == 0 ? 0 : (window + static_cast<core::Index>(random() % 400)) % kBuffers;
    now += static_cast<core::Picoseconds>(random() % 2'000'000);
    const bool allocate = address[buffer] == 0;
    const std::uint64_t before = address[buffer];
    if (allocate) {
      address[buffer] = allocator.allocate(program->buffers[buffer].bytes(), 0)->address;
    } else {
      allocator.release(before);
      address[buffer] = 0;
    }
    const auto totals = allocator.totals();
    log->ranks[0].memory.push_back({now, buffer, 0, allocate, allocate ? address[buffer] : before,
                                    totals.allocated, totals.active, totals.reserved});
  }
  log->ranks[0].stepBegin = {0};
  log->ranks[0].stepEnd = {now + 1};
  return log;
}

const std::shared_ptr<core::ExecutionLog>& scene() {
  static const auto log = syntheticLog();
  return log;
}
const gui::MemoryData& data() {
  static const gui::MemoryData made(scene(), 0, {}, nullptr);
  return made;
}

void buildMemory(benchmark::State& state) {
  const auto log = scene();
  for (auto _ : state) {
    const gui::MemoryData made(log, 0, {}, nullptr);
    state.counters["bytes_per_event"] =
        static_cast<double>(made.curve.bytes() + made.lifetimes.bytes() + made.allocator->bytes()) / kEvents;
    state.counters["curve_bytes_per_event"] = static_cast<double>(made.curve.bytes()) / kEvents;
  }
}
BENCHMARK(buildMemory)->Unit(benchmark::kMillisecond)->Iterations(1);

void memoryZoomAndPan(benchmark::State& state) {
  const gui::Palette& palette = gui::paletteOf(gui::Theme::light);
  gui::MemoryPlotPainter plot(palette);
  QImage image(kWidth, kHeight / 2, QImage::Format_RGB32);
  const gui::TimeRange whole = data().curve.whole();
  bench::FrameTimes frames;
  for (auto _ : state) {
    gui::TimeRange view = whole;
    for (int i = 0; i < 400; ++i) {
      frames.time([&] {
        QPainter painter(&image);
        plot.paint(painter, image.rect(), &data(), {.view = view, .instant = data().curve.peak()});
      });
      const gui::TimeAxis axis{view, kWidth};
      view = i < 200 ? gui::zoomed(axis, kWidth * 0.37, 0.93, whole) : gui::panned(axis, 24, whole);
      if (i == 200) view = {whole.begin, whole.begin + whole.length() / 8};
    }
  }
  frames.report(state);
}
BENCHMARK(memoryZoomAndPan)->Unit(benchmark::kMillisecond)->Iterations(1);

void memoryInstants(benchmark::State& state) {
  std::mt19937 random(3);
  bench::FrameTimes live, map;
  for (auto _ : state)
    for (int i = 0; i < 100; ++i) {
      const auto event = static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(kEvents));
      live.time([&] { benchmark::DoNotOptimize(gui::liveAfter(data().lifetimes, event)); });
      map.time([&] { benchmark::DoNotOptimize(data().allocator->mapAfter(event)); });
    }
  live.report(state, "live_");
  map.report(state, "map_");
}
BENCHMARK(memoryInstants)->Unit(benchmark::kMillisecond)->Iterations(1);

void listAllocations(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(gui::allocationsFor(
        data(), {.text = "activations", .sort = gui::AllocationColumn::taken, .descending = true}));
}
BENCHMARK(listAllocations)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
