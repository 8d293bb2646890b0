#include <benchmark/benchmark.h>

#include <QApplication>
#include <algorithm>
#include <memory>
#include <random>

#include "bench/gui/frame_times.h"
#include "bench/gui/synthetic_lanes.h"
#include "gui/model/slice_search.h"
#include "gui/paint/timeline_lanes.h"
#include "gui/view/timeline/timeline_canvas.h"

// What stands around the rows: whole widget frames with tree, ruler and names; building everything from a log
// of five million slices; hit tests, area statistics, search; the heat map.

namespace {

using namespace vsim;
using namespace vsim::gui;

constexpr std::size_t kSlices = 5'000'000;
constexpr std::size_t kClasses = 16;  // of four streams: 64 lanes

const TimelineCanvas::Scene& scene() {
  static const TimelineCanvas::Scene kept =
      std::make_shared<TimelineScene>(timelineOf(bench::syntheticLog(kSlices, kClasses, 1)));
  return kept;
}

void openLog(benchmark::State& state) {
  const auto log = bench::syntheticLog(kSlices, kClasses, 1);
  for (auto _ : state) benchmark::DoNotOptimize(TimelineScene(timelineOf(log)).lastStep());
}

/// All of the page's canvas, 64 lanes open: from the whole log to a few slices, each zoom at several places.
/// range(0): moving, else at rest, as the frame is drawn again once the zoom stands still.
void widgetFrame(benchmark::State& state) {
  Session session;
  TimelineCanvas canvas(session, nullptr);
  canvas.resize(1920, 1080);
  canvas.setScene(scene(), {});
  for (std::size_t c = 0; c < kClasses; ++c) canvas.setClosed(c, false);
  const TimeRange whole = scene()->data().whole;
  QImage image(1920, 1080, QImage::Format_RGB32);
  bench::FrameTimes frames;
  const std::int64_t count = state.range(0) != 0 ? 360 : 72;
  for (auto _ : state)
    for (std::int64_t frame = 0; frame < count; ++frame) {
      const core::Picoseconds length = whole.length() >> (frame % 18), room = whole.length() - length + 1;
      const core::Picoseconds begin = whole.begin + frame * (whole.length() / 400) % room;
      session.setZoom({begin, begin + length});
      while (state.range(0) == 0 && canvas.moving())
        QApplication::processEvents(QEventLoop::WaitForMoreEvents);
      frames.time([&] { canvas.render(&image); });
    }
  frames.report(state);
}

void hitTest(benchmark::State& state) {
  Session session;
  TimelineCanvas canvas(session, nullptr);
  canvas.resize(1920, 1080);
  canvas.setScene(scene(), {});
  session.setZoom(scene()->data().whole);
  std::mt19937_64 random(2);
  for (auto _ : state)
    benchmark::DoNotOptimize(canvas.sliceAt(
        QPointF(250 + static_cast<double>(random() % 1600), 100 + static_cast<double>(random() % 900))));
}

void areaOfEverything(benchmark::State& state) {
  const std::atomic<bool> never = false;
  std::vector<std::size_t> lanes;
  for (std::size_t lane = 0; lane < scene()->lanes().size(); ++lane) lanes.push_back(lane);
  for (auto _ : state)
    benchmark::DoNotOptimize(scene()->statistics(lanes, scene()->data().whole, never).exposed);
}

void searchFirst(benchmark::State& state) {
  for (auto _ : state) {
    const SliceSearch search(scene()->sharedData(), "all-reduce backward");
    benchmark::DoNotOptimize(search.firstFrom(0));
  }
}

void searchAll(benchmark::State& state) {
  const std::atomic<bool> never = false;
  for (auto _ : state) {
    const SliceSearch search(scene()->sharedData(), "all-reduce backward");
    benchmark::DoNotOptimize(search.hits(never).count);
  }
}

/// 512 classes of ranks, two rows of pixels each; range(0): moving.
void heatMap(benchmark::State& state) {
  static const TimelineCanvas::Scene many =
      std::make_shared<TimelineScene>(timelineOf(bench::syntheticLog(kSlices, 512, 1)));
  TimelineFrame frame;
  frame.scene = many.get();
  frame.axis = {many->data().whole, 1920};
  frame.moving = state.range(0) != 0;
  TimelineLanes lanes(Theme::light);
  QImage image(1920, 1024, QImage::Format_RGB32);
  for (auto _ : state) lanes.drawHeat(frame, image);
}

BENCHMARK(openLog)->Unit(benchmark::kMillisecond);
BENCHMARK(widgetFrame)->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(hitTest)->Unit(benchmark::kMicrosecond);
BENCHMARK(areaOfEverything)->Unit(benchmark::kMillisecond);
BENCHMARK(searchFirst)->Unit(benchmark::kMillisecond);
BENCHMARK(searchAll)->Unit(benchmark::kMillisecond);
BENCHMARK(heatMap)->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);

}  // namespace
