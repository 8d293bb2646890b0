#include "gui/model/stored_levels.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <random>

#include "app/run.h"
#include "gui/model/open_run.h"
#include "gui/model/row_layout.h"
#include "tests/support/sample_log.h"
#include "tests/support/temporary_folder.h"
#include "traces/log_codec.h"
#include "traces/packed_bytes.h"
#include "traces/run_store.h"

namespace vsim::gui {
namespace {

using Scene = std::shared_ptr<const TimelineScene>;

Scene sceneOf(std::shared_ptr<const core::ExecutionLog> log) {
  return std::make_shared<const TimelineScene>(timelineOf(std::move(log)));
}

Scene sampleScene() { return sceneOf(std::make_shared<const core::ExecutionLog>(test::sampleLog())); }

Scene simulatedScene(const std::string& scenario) {
  auto results = app::run({.scenario = scenario, .keepLogs = true}, {});
  if (!results) FAIL(scenario << ": " << results.error().front().message);
  return sceneOf(results->front().log);
}

void checkAlike(const LaneIndex& lane, const LaneIndex& coarse) {
  if (lane.span().empty()) return;
  REQUIRE(coarse.coarse());
  CHECK(coarse.span() == lane.span());
  constexpr int kWidth = 1000;
  // One step of 255 for each class and cell that a column touches, and what two cells at its edges may shift.
  std::vector<ClassShares> exact(kWidth), stored(kWidth);
  const TimeAxis axis{lane.span(), kWidth};
  lane.shares(axis, false, exact);
  CHECK(coarse.shares(axis, false, stored) == LaneIndex::Level::grid);
  float worst = 0;
  double sum = 0, storedSum = 0;
  for (std::size_t x = 0; x < exact.size(); ++x) {
    for (std::size_t c = 0; c < kBusyClasses; ++c) {
      worst = std::max(worst, std::abs(exact[x].of[c] - stored[x].of[c]));
      if (exact[x].of[c] > 0.01F) CHECK(stored[x].of[c] > 0);
    }
    sum += static_cast<double>(exact[x].total());
    storedSum += static_cast<double>(stored[x].total());
  }
  CHECK(worst < 0.3F);
  CHECK(storedSum == Approx(sum).epsilon(0.02).margin(2));
}

/// All that the window does with a scene at once.
void use(const TimelineScene& scene) {
  std::vector<ClassShares> columns(300);
  std::vector<float> totals(300);
  for (const LaneIndex& lane : scene.lanes()) {
    lane.shares({scene.data().whole, 300}, true, columns);
    static_cast<void>(lane.busyIn(lane.span()));
    CHECK_FALSE(lane.sliceAt(lane.span().begin, 1000).has_value());
  }
  for (const BusyTrack& track : scene.exposed()) {
    track.shares({scene.data().whole, 300}, false, totals);
    static_cast<void>(track.busyIn(track.span()));
  }
  static_cast<void>(scene.lastStep());
  const auto rows = layoutRows(scene.data(), scene.classes(), {}, {});
  for (const TimelineRow& row : rows)
    if (row.lane >= 0) CHECK(scene.classOf(row.lane) < scene.exposed().size());
}

}  // namespace

TEST_CASE("levels: what the first picture shows comes back") {
  for (const Scene& scene : {sampleScene(), simulatedScene("tiny"), simulatedScene("moe_10k")}) {
    const Scene coarse = decodeLevels(encodeLevels(*scene));
    REQUIRE(coarse);
    CHECK(coarse->coarse());
    CHECK_FALSE(scene->coarse());
    const TimelineData &data = scene->data(), &stored = coarse->data();
    CHECK(stored.slices() == data.slices());
    CHECK(stored.whole == data.whole);
    CHECK(stored.steps == data.steps);
    CHECK(coarse->steps() == scene->steps());
    CHECK(coarse->lastStep() == scene->lastStep());
    REQUIRE(stored.tracks.size() == data.tracks.size());
    for (std::size_t t = 0; t < data.tracks.size(); ++t) {
      CHECK(stored.tracks[t].title == data.tracks[t].title);
      CHECK(stored.tracks[t].lane == data.tracks[t].lane);
      CHECK(stored.tracks[t].kind == data.tracks[t].kind);
      CHECK(stored.tracks[t].ranks == data.tracks[t].ranks);
    }
    REQUIRE(coarse->exposed().size() == scene->exposed().size());
    REQUIRE(coarse->classSteps().size() == scene->classSteps().size());
    for (std::size_t c = 0; c < scene->exposed().size(); ++c) {
      REQUIRE(coarse->classSteps()[c].size() == scene->classSteps()[c].size());
      CHECK(coarse->classSteps()[c].back().exposed == scene->classSteps()[c].back().exposed);
      const BusyTrack &track = scene->exposed()[c], &rough = coarse->exposed()[c];
      CHECK(rough.span() == track.span());
      const auto busy = static_cast<double>(track.busyIn(scene->lastStep()));
      CHECK(static_cast<double>(rough.busyIn(scene->lastStep())) == Approx(busy).epsilon(0.05));
    }
    REQUIRE(coarse->lanes().size() == scene->lanes().size());
    for (std::size_t l = 0; l < scene->lanes().size(); ++l) checkAlike(scene->lanes()[l], coarse->lanes()[l]);
    use(*coarse);
  }
}

TEST_CASE("levels: the shortest slice is still seen") {
  core::ExecutionLog log = test::sampleLog();
  for (core::Slice& slice : log.ranks[0].slices)
    if (slice.stream == 2) slice.end = slice.begin + 1000;  // 1 ns of 300 ms
  const Scene coarse = decodeLevels(encodeLevels(*sceneOf(std::make_shared<core::ExecutionLog>(log))));
  REQUIRE(coarse);
  for (const Track& track : coarse->data().tracks) {
    if (track.stream != 2 || track.lane < 0) continue;
    std::vector<ClassShares> columns(100);
    const LaneIndex& lane = coarse->lanes()[static_cast<std::size_t>(track.lane)];
    lane.shares({lane.span(), 100}, true, columns);
    CHECK(columns.front().total() > 0);
    CHECK(columns.back().total() > 0);
  }
}

TEST_CASE("levels: bytes that are damaged, cut or of something else are refused") {
  const std::string bytes = encodeLevels(*sampleScene());
  REQUIRE(decodeLevels(bytes));
  for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 300)
    CHECK_FALSE(decodeLevels(std::string_view(bytes).substr(0, size)));
  for (std::size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 300) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    // A change that leaves checksum and length whole does not exist but in bits that zlib ignores.
    if (const Scene scene = decodeLevels(damaged)) use(*scene);
  }
  CHECK_FALSE(decodeLevels(traces::encodeLog(test::sampleLog())));
  CHECK_FALSE(decodeLevels("vlod"));
  CHECK_FALSE(decodeLevels(traces::packBytes("vlod", std::string("\x04", 1))));  // format 2
  CHECK_FALSE(decodeLevels(traces::packBytes("vlod", std::string(5000, '\x02'))));
}

TEST_CASE("levels: nothing in bytes that were made to be whole is trusted") {
  const std::string plain = traces::unpackBytes("vlod", encodeLevels(*sampleScene())).value();
  std::mt19937_64 random(11);
  int refused = 0, taken = 0;
  for (int i = 0; i < 600; ++i) {
    std::string changed = plain;
    // Most of the bytes are cells: the front holds tracks, times and counts.
    const std::size_t reach = i % 2 == 0 ? std::min<std::size_t>(300, plain.size()) : plain.size();
    for (int change = 0; change < 1 + i % 3; ++change)
      changed[random() % reach] = static_cast<char>(random());
    const Scene scene = decodeLevels(traces::packBytes("vlod", changed));
    ++(scene ? taken : refused);
    if (scene) use(*scene);
  }
  CHECK(refused > 50);
  CHECK(taken > 50);
}

TEST_CASE(
    "levels: a stored run with them shows before its log is read; without, or damaged, it opens all the "
    "same") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  const auto log = std::make_shared<const core::ExecutionLog>(test::sampleLog());
  {
    traces::RunRecord record;
    record.reports.resize(2);
    record.logs = {log.get(), nullptr};
    auto store = traces::RunStore::open(path, traces::RunStore::Access::readWrite);
    REQUIRE((store && store->save(record)));
  }
  const auto openAll = [&] {
    std::shared_ptr<const OpenedRun> first;
    const auto run = openRun({.path = path, .id = 1}, {}, {}, [&](const std::shared_ptr<const OpenedRun>& r) {
      CHECK_FALSE(first);
      first = r;
    });
    REQUIRE(run.has_value());
    CHECK_FALSE((*run)->loading);
    CHECK((*run)->logs.size() == 2);
    CHECK((*run)->store == path);
    return first;
  };
  CHECK_FALSE(openAll());
  const Scene scene = sceneOf(log);
  REQUIRE(keepLevels(path, 1, 0, *scene));
  const auto first = openAll();
  REQUIRE(first);
  CHECK(first->loading);
  CHECK(first->logs.empty());
  CHECK(first->reports.size() == 2);
  REQUIRE(first->levels.size() == 2);
  CHECK(decodeLevels(first->levels[0]));
  CHECK(first->levels[1].empty());
  {
    auto store = traces::RunStore::open(path, traces::RunStore::Access::readWrite);
    REQUIRE((store && store->saveLevels(1, 0, first->levels[0].substr(0, 40))));
  }
  const auto damaged = openAll();
  REQUIRE(damaged);
  CHECK_FALSE(decodeLevels(damaged->levels[0]));
  CHECK(keepLevels(path, 1, 0, *scene));  // written anew
  CHECK(decodeLevels(openAll()->levels[0]));
  CHECK_FALSE(keepLevels(path, 1, 1, *scene));  // no log
  CHECK_FALSE(keepLevels(path, 9, 0, *scene));
  test::writeFile(folder / "foreign", "no database");
  CHECK_FALSE(keepLevels(folder / "foreign", 1, 0, *scene));
  CHECK(test::readFile(folder / "foreign") == "no database");
}

}  // namespace vsim::gui
