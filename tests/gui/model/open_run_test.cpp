#include "gui/model/open_run.h"

#include <catch2/catch.hpp>

#include "core/report/json.h"
#include "gui/model/timeline_data.h"
#include "tests/support/sample_log.h"
#include "tests/support/temporary_folder.h"
#include "traces/log_codec.h"
#include "traces/run_store.h"

namespace vsim::gui {

TEST_CASE("Words mean runs, scenarios, traces and addresses") {
  test::TemporaryFolder folder;
  const std::string store = folder / "runs.sqlite";
  CHECK(sourceOf("42", store)->id == 42);
  CHECK(sourceOf("42", store)->path == store);
  CHECK(sourceOf("last", store)->id == 0);
  CHECK(sourceOf("vsim://run/7?view=timeline", store)->id == 7);
  CHECK(sourceOf("tiny", store)->kind == RunSource::Kind::scenario);
  CHECK(sourceOf("tiny", store)->path.ends_with("tiny.yaml"));
  test::writeFile(folder / "t.json", "[]");
  CHECK(sourceOf(folder / "t.json", store)->kind == RunSource::Kind::trace);
  for (const char* wrong :
       {"0", "-3", "vsim://run/", "vsim://run/abc", "vsim://plan/3", "nothing.json", "tiy", ""}) {
    INFO(wrong);
    CHECK_FALSE(sourceOf(wrong, store).has_value());
  }
}

TEST_CASE("A scenario is simulated, stored, and comes back from the store as it was") {
  test::TemporaryFolder folder;
  RunSource source{
      .kind = RunSource::Kind::scenario, .path = "tiny", .overrides = {{"batch.micro_batch", "2"}}};
  source.store = true;
  source.storePath = folder / "deep/runs.sqlite";
  std::vector<double> fractions;
  const auto run =
      openRun(source, [&](const std::string&, double fraction) { fractions.push_back(fraction); }, {});
  REQUIRE(run.has_value());
  CHECK((*run)->id == 1);
  CHECK((*run)->reports.size() == 2);
  CHECK((*run)->command == "vsim run tiny --set 'batch.micro_batch=2'");
  REQUIRE((*run)->logs.size() == 2);
  CHECK(fractions.size() >= 3);
  CHECK(std::is_sorted(fractions.begin(), fractions.end()));
  const auto again = openRun({.path = source.storePath, .id = 1}, {}, {});
  REQUIRE(again.has_value());
  CHECK(core::toCompleteJson((*again)->reports) == core::toCompleteJson((*run)->reports));
  CHECK((*again)->scenarioText == (*run)->scenarioText);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(traces::encodeLog(*(*again)->logs[i]) == traces::encodeLog(*(*run)->logs[i]));
}

TEST_CASE("Opening is cancelled when asked") {
  const auto run = openRun({.kind = RunSource::Kind::scenario, .path = "tiny"}, {}, [] { return true; });
  REQUIRE_FALSE(run.has_value());
  CHECK(run.error().front().message == "cancelled");
}

TEST_CASE("A trace of another program is opened with its slices alone") {
  test::TemporaryFolder folder;
  test::writeFile(folder / "t.json",
                  R"([{"ph":"X","pid":1,"tid":7,"name":"gemm","cat":"kernel","ts":10,"dur":5}])");
  const auto run = openRun({.kind = RunSource::Kind::trace, .path = folder / "t.json"}, {}, {});
  REQUIRE(run.has_value());
  CHECK((*run)->title == "t.json");
  CHECK((*run)->reports.empty());
  REQUIRE((*run)->imported != nullptr);
  CHECK((*run)->imported->slices() == 1);
  for (const char* text : {"", "{", "[]", "{\"traceEvents\": 3}", "\x1f\x8b"}) {
    test::writeFile(folder / "t.json", text);
    CHECK_FALSE(openRun({.kind = RunSource::Kind::trace, .path = folder / "t.json"}, {}, {}).has_value());
  }
}

TEST_CASE("What cannot be opened is an error") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  CHECK_FALSE(openRun({.path = path, .id = 1}, {}, {}).has_value());  // no store
  {
    auto store = traces::RunStore::open(path, traces::RunStore::Access::readWrite);
    REQUIRE(store.has_value());
    CHECK_FALSE(openRun({.path = path}, {}, {}).has_value());  // no runs
    traces::RunRecord calibration;
    calibration.profile = traces::StoredProfile{.executor = "host", .device = "cpu", .ranks = 1, .text = "x"};
    REQUIRE(store->save(calibration).has_value());
    traces::RunRecord bare;
    bare.reports.emplace_back();
    REQUIRE(store->save(bare).has_value());
    REQUIRE(store->save(bare).has_value());
    REQUIRE(store->deleteRuns({3}, 1).has_value());
  }
  CHECK_FALSE(openRun({.path = path, .id = 1}, {}, {}).has_value());
  CHECK_FALSE(openRun({.path = path, .id = 3}, {}, {}).has_value());
  const auto bare = openRun({.path = path}, {}, {});  // the newest that is there; without a log
  REQUIRE(bare.has_value());
  CHECK((*bare)->id == 2);
  CHECK((*bare)->logs.front() == nullptr);
  CHECK_FALSE((*bare)->notes.empty());
  RunSource wrong{.kind = RunSource::Kind::scenario, .path = folder / "x.yaml"};
  wrong.text = "vsim: 1\nmodel: {preset: lama-3-8b}\n";
  const auto errors = openRun(wrong, {}, {});
  REQUIRE_FALSE(errors.has_value());
  CHECK(errors.error().size() >= 2);
  CHECK(errors.error().front().line > 0);
}

TEST_CASE("A simulation under way looks at its cancellation, not only before each system") {
  int asked = 0;
  const auto run =
      openRun({.kind = RunSource::Kind::scenario, .path = "moe_10k"}, {}, [&] { return ++asked > 2; });
  REQUIRE_FALSE(run.has_value());
  CHECK(run.error().front().message == "cancelled");
  CHECK(asked == 3);
}

TEST_CASE("Run stores are known by their first bytes") {
  test::TemporaryFolder folder;
  REQUIRE(traces::RunStore::open(folder / "runs.yaml", traces::RunStore::Access::readWrite).has_value());
  CHECK(isDatabase(folder / "runs.yaml"));
  test::writeFile(folder / "a.sqlite", "SQLite format");
  CHECK_FALSE(isDatabase(folder / "a.sqlite"));
  CHECK_FALSE(isDatabase(folder / "missing"));
  CHECK_FALSE(isDatabase(folder / ""));
}

}  // namespace vsim::gui
