#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QApplication>
#include <QImage>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "bench/gui/synthetic_lanes.h"
#include "gui/model/give_back_memory.h"
#include "gui/model/open_run.h"
#include "gui/model/stored_levels.h"
#include "gui/view/timeline/timeline_canvas.h"
#include "traces/run_store.h"

// From a stored run of five million slices to a picture: with the level of detail that was stored beside its
// log, and without. `timeline_bytes_per_slice`: lanes and indexes;
// `resident_bytes_per_slice`: what the process holds once everything is loaded, its log, too, and
// `beyond_28_bytes_MB`: what of it is more than 28 bytes a slice. Meaningful when the benchmark runs alone.

namespace {

using namespace vsim;
using namespace vsim::gui;

constexpr std::size_t kSlices = 5'000'000;
constexpr std::size_t kClasses = 16;  // of four streams: 64 lanes

/// A store with one run, made by a child process: what that took is not held by this one.
class StoredRun {
 public:
  StoredRun()
      : folder_(std::filesystem::temp_directory_path() / ("vsim_open_bench_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    const pid_t child = ::fork();
    if (child == 0) {
      make();
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
  ~StoredRun() { std::filesystem::remove_all(folder_); }
  [[nodiscard]] RunSource source() const { return {.path = path(), .id = 1}; }
  [[nodiscard]] std::string path() const { return (folder_ / "runs.sqlite").string(); }

 private:
  void make() const {
    const auto log = bench::syntheticLog(kSlices, kClasses, 1);
    traces::RunRecord record;
    record.scenario = "synthetic";
    record.reports.resize(1);
    record.logs = {log.get()};
    auto store = traces::RunStore::open(path(), traces::RunStore::Access::readWrite);
    if (!store || !store->save(record)) std::abort();
  }
  std::filesystem::path folder_;
};

const StoredRun& stored() {
  static const StoredRun made;
  return made;
}

double resident() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void picture(const std::shared_ptr<const TimelineScene>& scene) {
  Session session;
  TimelineCanvas canvas(session, nullptr);
  canvas.resize(1920, 1080);
  canvas.setScene(scene, {});
  QImage image(1920, 1080, QImage::Format_RGB32);
  canvas.render(&image);
  benchmark::DoNotOptimize(image.constBits());
}

std::shared_ptr<const TimelineScene> wholeScene(const OpenedRun& run) {
  return std::make_shared<const TimelineScene>(timelineOf(run.logs.front()));
}

/// Everything: log, lanes, indexes, one picture.
void openRebuilt(benchmark::State& state) {
  const RunSource source = stored().source();
  for (auto _ : state) {
    const auto run = openRun(source, {}, {});
    if (!run) return state.SkipWithError(run.error().front().message.c_str());
    const auto scene = wholeScene(**run);
    picture(scene);
    state.PauseTiming();
    giveBackMemory();  // as the page does
    const double bytes = resident();
    state.counters["timeline_bytes_per_slice"] = static_cast<double>(scene->memory()) / kSlices;
    state.counters["resident_bytes_per_slice"] = bytes / kSlices;
    state.counters["beyond_28_bytes_MB"] = (bytes - 28.0 * kSlices) / 1e6;
    state.ResumeTiming();
  }
}

/// Up to the first picture, from what an earlier opening has stored.
void openWithLevels(benchmark::State& state) {
  const RunSource source = stored().source();
  {
    const auto run = openRun(source, {}, {});
    if (!run || !keepLevels(source.path, 1, 0, *wholeScene(**run)))
      return state.SkipWithError("the levels are not kept");
  }
  for (auto _ : state) {
    bool seen = false;
    const auto rest = openRun(
        source, {}, [&] { return seen; },
        [&](const std::shared_ptr<const OpenedRun>& run) {
          const auto scene = decodeLevels(run->levels.front());
          if (scene) picture(scene);
          seen = scene != nullptr;
          state.counters["levels_KB"] = static_cast<double>(run->levels.front().size()) / 1e3;
        });
    if (!seen || rest) return state.SkipWithError("there was no first picture");
  }
}

BENCHMARK(openRebuilt)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(openWithLevels)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace
