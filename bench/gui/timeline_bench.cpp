#include <benchmark/benchmark.h>

#include <QImage>
#include <algorithm>
#include <cmath>
#include <memory>

#include "bench/gui/frame_times.h"
#include "bench/gui/synthetic_lanes.h"
#include "gui/paint/lane_row.h"

// Frames of the timeline's rows at 1920 x 1080 with software rendering: p50, p95 and the worst of the path
// that each benchmark describes.

namespace {

using namespace vsim;
constexpr int kWidth = 1920, kHeight = 1080;

struct Scene {
  std::vector<gui::LaneColumns> lanes;
  std::vector<gui::LaneIndex> indexes;
  gui::TimeRange whole;
};

const Scene& scene(std::size_t slices, std::size_t lanes) {
  static std::unique_ptr<Scene> kept;
  static std::pair<std::size_t, std::size_t> key;
  if (kept && key == std::pair(slices, lanes)) return *kept;
  kept.reset();
  kept = std::make_unique<Scene>();
  key = {slices, lanes};
  kept->lanes = bench::syntheticLanes(slices, lanes, 1);
  for (const gui::LaneColumns& lane : kept->lanes) {
    kept->indexes.emplace_back(lane);
    kept->whole.end = std::max(kept->whole.end, kept->indexes.back().span().end);
  }
  return *kept;
}

void drawFrame(const Scene& scene, gui::TimeRange view, gui::LaneRowPainter& painter, QImage& image) {
  const int height = std::max(1, kHeight / static_cast<int>(scene.indexes.size()));
  for (std::size_t l = 0; l < scene.indexes.size(); ++l)
    painter.draw(scene.indexes[l], {view, kWidth}, true, image, 0, static_cast<int>(l) * height, height);
}

template <class View>
void frames(benchmark::State& state, int count, View view) {
  const Scene& shown =
      scene(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  gui::LaneRowPainter painter(gui::paletteOf(gui::Theme::light));
  QImage image(kWidth, kHeight, QImage::Format_RGB32);
  bench::FrameTimes times;
  for (auto _ : state)
    for (int i = 0; i < count; ++i)
      times.time([&] { drawFrame(shown, view(shown.whole, i), painter, image); });
  benchmark::DoNotOptimize(image.constBits());
  times.report(state);
  state.counters["rows_grid"] = static_cast<double>(painter.counts().grid);
  state.counters["rows_exact"] = static_cast<double>(painter.counts().exact);
  state.counters["rows_rectangles"] = static_cast<double>(painter.counts().rectangles);
}

void fullView(benchmark::State& state) {
  frames(state, 1, [](gui::TimeRange whole, int) { return whole; });
}

void zoomSweep(benchmark::State& state) {
  frames(state, 200, [](gui::TimeRange whole, int i) {
    const double share = std::pow(4.8e6, -static_cast<double>(i) / 199);
    const auto length = static_cast<core::Picoseconds>(static_cast<double>(whole.length()) * share);
    const core::Picoseconds begin = (whole.length() - length) / 3;
    return gui::TimeRange{begin, begin + std::max<core::Picoseconds>(length, 1000)};
  });
}

void pan(benchmark::State& state) {
  frames(state, 200, [](gui::TimeRange whole, int i) {
    const core::Picoseconds length = whole.length() / 8, begin = (whole.length() - length) / 200 * i;
    return gui::TimeRange{begin, begin + length};
  });
}

void buildIndex(benchmark::State& state) {
  const Scene& shown =
      scene(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  std::size_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    for (const gui::LaneColumns& lane : shown.lanes) bytes += gui::LaneIndex(lane).bytes();
  }
  constexpr double kColumns = 8 + 8 + 1 + 4;  // begin, end, class, source
  state.counters["bytes_per_slice"] =
      kColumns + static_cast<double>(bytes) / static_cast<double>(state.range(0));
}

#define SCENES ->Args({5'000'000, 64})->Args({5'000'000, 1})->Unit(benchmark::kMillisecond)
BENCHMARK(fullView) SCENES;
BENCHMARK(zoomSweep) SCENES->Iterations(1);
BENCHMARK(pan) SCENES->Iterations(1);
BENCHMARK(buildIndex) SCENES;

}  // namespace
