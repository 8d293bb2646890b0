#include <catch2/catch.hpp>

#include "tests/support/sample_log.h"
#include "tests/support/temporary_folder.h"
#include "traces/run_store.h"

namespace vsim::traces {
namespace {

using Access = RunStore::Access;

RunRecord recordOf(const std::string& scenario) {
  RunRecord run;
  run.scenario = scenario;
  run.reports.resize(2);
  run.reports[1].exposedCommSeconds = 0.25;
  run.reports[1].peakAllocated = 7;
  return run;
}

struct Filled {
  Filled() {
    for (const char* name : {"a", "b", "c"}) REQUIRE(store.save(recordOf(name)).has_value());
  }
  std::vector<RunSummary> rows() { return store.list(100).value(); }

  test::TemporaryFolder folder;
  RunStore store = std::move(RunStore::open(folder / "runs.sqlite", Access::readWrite).value());
};

}  // namespace

TEST_CASE("Tags and notes belong to a run and are listed with each of its reports") {
  Filled f;
  REQUIRE(f.store.setTags(2, "paper, it's \"best\"").has_value());
  REQUIRE(f.store.setNote(2, "first").has_value());
  REQUIRE(f.store.setNote(2, "second").has_value());
  const auto rows = f.rows();
  REQUIRE(rows.size() == 6);
  for (const RunSummary& row : rows) {
    CHECK(row.tags == (row.id == 2 ? "paper, it's \"best\"" : ""));
    CHECK(row.note == (row.id == 2 ? "second" : ""));
  }
  CHECK(rows[1].position == 1);
  CHECK(rows[1].exposedSeconds == 0.25);
  CHECK(rows[1].peakBytes == 7);
  CHECK_FALSE(f.store.setTags(9, "x").has_value());
  CHECK_FALSE(f.store.setNote(9, "x").has_value());
}

TEST_CASE("One run at most is pinned") {
  Filled f;
  const auto pinned = [&] {
    std::vector<std::int64_t> ids;
    for (const RunSummary& row : f.rows())
      if (row.pinned && row.position == 0) ids.push_back(row.id);
    return ids;
  };
  REQUIRE(f.store.setTags(1, "kept").has_value());
  REQUIRE(f.store.pin(1).has_value());
  CHECK(pinned() == std::vector<std::int64_t>{1});
  REQUIRE(f.store.pin(3).has_value());
  CHECK(pinned() == std::vector<std::int64_t>{3});
  REQUIRE(f.store.pin(3).has_value());
  CHECK(pinned() == std::vector<std::int64_t>{3});
  CHECK_FALSE(f.store.pin(9).has_value());
  CHECK(pinned() == std::vector<std::int64_t>{3});
  REQUIRE(f.store.pin(0).has_value());
  CHECK(pinned().empty());
  CHECK(f.rows().back().tags == "kept");
}

TEST_CASE("Deleted runs are gone until they are restored, and for good once purged") {
  Filled f;
  REQUIRE(f.store.setTags(3, "kept").has_value());
  CHECK(f.store.lastDeleted()->empty());
  REQUIRE(f.store.deleteRuns({2}, 900).has_value());
  REQUIRE(f.store.deleteRuns({1, 3}, 1000).has_value());
  CHECK(*f.store.lastDeleted() == std::vector<std::int64_t>{1, 3});
  REQUIRE(f.store.restoreRuns({1, 3}).has_value());
  CHECK(*f.store.lastDeleted() == std::vector<std::int64_t>{2});
  REQUIRE(f.store.restoreRuns({2}).has_value());
  REQUIRE(f.store.deleteRuns({1, 3}, 1000).has_value());
  CHECK(f.rows().size() == 2);
  CHECK(f.store.newest().value() == 2);
  CHECK_FALSE(f.store.load(3).has_value());
  CHECK(f.store.load(2).has_value());
  CHECK(f.store.list(1).value().front().id == 2);  // the limit counts what is there
  REQUIRE(f.store.restoreRuns({3}).has_value());
  CHECK(f.store.newest().value() == 3);
  CHECK(f.rows().front().tags == "kept");
  REQUIRE(f.store.purge(1000).has_value());
  REQUIRE(f.store.restoreRuns({1}).has_value());
  CHECK(f.rows().size() == 6);
  REQUIRE(f.store.deleteRuns({1}, 1000).has_value());
  REQUIRE(f.store.purge(1001).has_value());
  REQUIRE(f.store.restoreRuns({1}).has_value());
  CHECK(f.rows().size() == 4);
  CHECK_FALSE(f.store.loadLog(1, 0).has_value());
  CHECK(f.store.save(recordOf("d")).value() == 4);  // ids are never used again
}

TEST_CASE("Deleting a run that is not there changes nothing") {
  Filled f;
  CHECK_FALSE(f.store.deleteRuns({2, 9}, 1000).has_value());
  CHECK(f.rows().size() == 6);
}

TEST_CASE("A reader cannot mark, and sees that another wrote") {
  Filled f;
  auto reader = RunStore::open(f.store.path(), Access::readOnly);
  REQUIRE(reader.has_value());
  CHECK_FALSE(reader->setTags(1, "x").has_value());
  CHECK_FALSE(reader->deleteRuns({1}, 1).has_value());
  const auto before = reader->dataVersion();
  CHECK(reader->dataVersion().value() == before.value());
  REQUIRE(f.store.setNote(1, "x").has_value());
  CHECK(reader->dataVersion().value() != before.value());
}

}  // namespace vsim::traces
