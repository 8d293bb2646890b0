#include "traces/run_store.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "core/report/json.h"
#include "core/report/text.h"
#include "tests/support/sample_log.h"
#include "tests/support/temporary_folder.h"
#include "traces/log_codec.h"
#include "traces/store_schema.h"

namespace vsim::traces {
namespace {

using Access = RunStore::Access;

const core::ExecutionLog& sampleLog() {
  static const core::ExecutionLog log = test::sampleLog();
  return log;
}

RunRecord sampleRun(const std::string& scenario = "sample") {
  RunRecord run;
  run.scenario = scenario;
  run.scenarioText = "vsim: 1\n";
  run.configuration = "batch.micro_batch=2";
  run.command = "vsim run sample";
  run.createdSeconds = 1'700'000'000;
  run.verdict = "measured 3.1 s, predicted 3.0 s\n  \xc2\xb1 2 %\n";
  run.reports.push_back(core::makeReport(sampleLog(), test::sampleFacts(), test::sampleHardware()));
  run.reports.push_back(run.reports.front());
  run.reports.back().facts.system = "fsdp2";
  run.logs = {&sampleLog(), nullptr};
  return run;
}

void executeSql(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  char* message = nullptr;
  const int status = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message);
  INFO((message == nullptr ? "" : message));
  REQUIRE(status == SQLITE_OK);
  sqlite3_close(database);
}

std::string pragmaText(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  REQUIRE(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
  const std::string result = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return result;
}

/// Runs `work` in a child process; answers its wait status.
template <class Work>
pid_t inChild(Work&& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  return child;
}

int statusOf(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("A run comes back as it was saved") {
  test::TemporaryFolder folder;
  const std::string path = folder / "deep/below/runs.sqlite";
  const RunRecord run = sampleRun();
  std::int64_t id = 0;
  {
    auto store = RunStore::open(path, Access::readWrite);
    REQUIRE(store.has_value());
    id = store->save(run).value();
  }
  CHECK(pragmaText(path, "PRAGMA journal_mode") == "wal");
  CHECK(pragmaText(path, "PRAGMA integrity_check") == "ok");

  auto store = RunStore::open(path, Access::readOnly);
  REQUIRE(store.has_value());
  CHECK(store->newest().value() == id);
  const auto loaded = store->load(id);
  REQUIRE(loaded.has_value());
  CHECK(loaded->scenario == run.scenario);
  CHECK(loaded->scenarioText == run.scenarioText);
  CHECK(loaded->configuration == run.configuration);
  CHECK(loaded->command == run.command);
  CHECK(loaded->createdSeconds == run.createdSeconds);
  CHECK(loaded->verdict == run.verdict);
  CHECK(core::toText(loaded->reports) == core::toText(run.reports));
  CHECK(core::toCompleteJson(loaded->reports) == core::toCompleteJson(run.reports));

  const auto log = store->loadLog(id, 0);
  REQUIRE(log.has_value());
  CHECK(encodeLog(*log) == encodeLog(sampleLog()));
  const auto noLog = store->loadLog(id, 1);
  REQUIRE_FALSE(noLog.has_value());
  CHECK(noLog.error().message.find("no log") != std::string::npos);
  CHECK_FALSE(store->load(id + 1).has_value());
}

TEST_CASE("Lists show the newest runs first, all systems of each") {
  test::TemporaryFolder folder;
  auto store = RunStore::open(folder / "runs.sqlite", Access::readWrite);
  REQUIRE(store.has_value());
  CHECK(store->list(10).value().empty());
  CHECK(store->newest().value() == 0);
  for (const char* name : {"a", "b", "c"}) REQUIRE(store->save(sampleRun(name)).has_value());
  const auto rows = store->list(2);
  REQUIRE(rows.has_value());
  REQUIRE(rows->size() == 4);
  CHECK(rows->front().configuration == "batch.micro_batch=2");
  CHECK((*rows)[0].scenario == "c");
  CHECK((*rows)[0].system == "vescale");
  CHECK((*rows)[1].system == "fsdp2");
  CHECK((*rows)[2].scenario == "b");
  CHECK((*rows)[0].fits);
  CHECK((*rows)[0].stepSeconds == Approx(0.1));
}

TEST_CASE("A calibration is a run without reports; a run may carry the profile that it measured") {
  test::TemporaryFolder folder;
  auto store = RunStore::open(folder / "runs.sqlite", Access::readWrite);
  REQUIRE(store.has_value());
  RunRecord calibration;
  calibration.scenario = "NVIDIA H200";
  calibration.command = "vsim calibrate";
  calibration.profile = {
      .executor = "cuda", .device = "NVIDIA H200", .ranks = 8, .text = "vsim_profile: 1\n"};
  const auto first = store->save(calibration);
  REQUIRE(first.has_value());
  RunRecord run = sampleRun();
  run.profile = calibration.profile;
  const auto second = store->save(run);
  REQUIRE(second.has_value());
  REQUIRE(store->save(sampleRun("plain")).has_value());

  const auto loaded = store->load(*first);
  REQUIRE(loaded.has_value());
  CHECK(loaded->reports.empty());
  REQUIRE(loaded->profile.has_value());
  CHECK(loaded->profile->executor == "cuda");
  CHECK(loaded->profile->device == "NVIDIA H200");
  CHECK(loaded->profile->ranks == 8);
  CHECK(loaded->profile->text == "vsim_profile: 1\n");
  CHECK(store->load(*second)->profile.has_value());
  CHECK_FALSE(store->load(*second + 1)->profile.has_value());

  const auto rows = store->list(10);
  REQUIRE(rows.has_value());
  REQUIRE(rows->size() == 5);  // two runs of two systems, one calibration
  CHECK_FALSE((*rows)[0].calibration);
  CHECK_FALSE((*rows)[2].calibration);
  CHECK((*rows)[4].calibration);
  CHECK((*rows)[4].system == "cuda");
  CHECK((*rows)[4].gpus == 8);
  CHECK((*rows)[4].scenario == "NVIDIA H200");
}

TEST_CASE("Two processes create and fill one store together") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  constexpr int kRuns = 25;
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process)
    children.push_back(inChild([&] {
      for (int i = 0; i < kRuns; ++i) {
        auto store = RunStore::open(path, Access::readWrite);
        if (!store || !store->save(sampleRun())) ::_exit(1);
      }
    }));
  for (const pid_t child : children) CHECK(statusOf(child) == 0);
  auto store = RunStore::open(path, Access::readOnly);
  REQUIRE(store.has_value());
  CHECK(store->list(1000).value().size() == 2 * 2 * kRuns);
}

TEST_CASE("A process killed while it saves leaves whole runs only") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  for (int round = 0; round < 10; ++round) {
    const pid_t child = inChild([&] {
      auto store = RunStore::open(path, Access::readWrite);
      while (store && store->save(sampleRun())) {
      }
    });
    ::usleep(static_cast<useconds_t>(5'000 + 3'000 * round));
    ::kill(child, SIGKILL);
    CHECK(WIFSIGNALED(statusOf(child)));

    auto store = RunStore::open(path, Access::readWrite);
    REQUIRE(store.has_value());
    const auto rows = store->list(1'000'000);
    REQUIRE(rows.has_value());
    CHECK(rows->size() % 2 == 0);
    REQUIRE(store->save(sampleRun()).has_value());
    const std::int64_t newest = store->newest().value();
    CHECK(store->load(newest).has_value());
    CHECK(store->loadLog(newest, 0).has_value());
  }
  CHECK(pragmaText(path, "PRAGMA integrity_check") == "ok");
  CHECK(pragmaText(path, "SELECT count(*) FROM reports") ==
        std::to_string(2 * std::stoll(pragmaText(path, "SELECT count(*) FROM runs"))));
}

TEST_CASE("An empty file becomes a store") {
  test::TemporaryFolder folder;
  test::writeFile(folder / "empty", "");
  const auto reading = RunStore::open(folder / "empty", Access::readOnly);
  CHECK_FALSE(reading.has_value());
  auto store = RunStore::open(folder / "empty", Access::readWrite);
  REQUIRE(store.has_value());
  CHECK(store->save(sampleRun()).has_value());
}

TEST_CASE("Files that are no run store are refused and left alone") {
  test::TemporaryFolder folder;
  const std::string path = folder / "file";
  std::string content = "name: moe_10k\n" + std::string(10'000, 'x');
  SECTION("text") {}
  SECTION("short text") { content = "x"; }
  SECTION("header of SQLite, then garbage") { content = std::string("SQLite format 3\0", 16) + content; }
  test::writeFile(path, content);
  for (const Access access : {Access::readWrite, Access::readOnly}) {
    const auto store = RunStore::open(path, access);
    REQUIRE_FALSE(store.has_value());
    CHECK(store.error().file == path);
    CHECK_FALSE(store.error().hint.empty());
  }
  CHECK(test::readFile(path) == content);
}

TEST_CASE("Another program's database is refused and left alone") {
  test::TemporaryFolder folder;
  const std::string path = folder / "other.sqlite";
  executeSql(path, "CREATE TABLE runs (id INTEGER); PRAGMA user_version = 1;");
  const std::string before = test::readFile(path);
  const auto store = RunStore::open(path, Access::readWrite);
  REQUIRE_FALSE(store.has_value());
  CHECK(store.error().text().find("another program") != std::string::npos);
  CHECK(test::readFile(path) == before);
}

TEST_CASE("A store of a later version is refused") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  REQUIRE(RunStore::open(path, Access::readWrite).has_value());
  executeSql(path, "PRAGMA user_version = " + std::to_string(storeSchemaVersion() + 1));
  for (const Access access : {Access::readWrite, Access::readOnly}) {
    const auto store = RunStore::open(path, access);
    REQUIRE_FALSE(store.has_value());
    CHECK(store.error().text().find("later version") != std::string::npos);
  }
}

TEST_CASE("A store of the first version is brought up to date") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  {
    auto store = RunStore::open(path, Access::readWrite);
    REQUIRE(store.has_value());
    REQUIRE(store->save(sampleRun()).has_value());
  }
  executeSql(path,
             "DROP TABLE levels; DROP TABLE logs; DROP TABLE profiles; DROP TABLE marks;"
             "ALTER TABLE runs DROP COLUMN verdict;"
             "ALTER TABLE reports DROP COLUMN exposed_s; ALTER TABLE reports DROP COLUMN peak_bytes;"
             "PRAGMA user_version = 1;");
  // Reading does it, too: whoever comes back with a later version lists the runs first.
  CHECK(RunStore::open(path, Access::readOnly).has_value());
  CHECK(pragmaText(path, "PRAGMA user_version") == std::to_string(storeSchemaVersion()));
  auto store = RunStore::open(path, Access::readWrite);
  REQUIRE(store.has_value());
  CHECK(store->load(1).has_value());
  CHECK_FALSE(store->loadLog(1, 0).has_value());
  const auto rows = store->list(10);  // columns of later versions are filled from what was kept
  REQUIRE((rows.has_value() && rows->size() == 2));
  CHECK((*rows)[0].exposedSeconds == sampleRun().reports[0].exposedCommSeconds);
  CHECK((*rows)[1].peakBytes == sampleRun().reports[1].peakAllocated);
  CHECK((*rows)[1].peakBytes > 0);
  CHECK(store->loadLog(store->save(sampleRun()).value(), 0).has_value());
}

TEST_CASE("A store of the fourth version gets verdicts and levels, and keeps what it has") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  {
    auto store = RunStore::open(path, Access::readWrite);
    REQUIRE(store.has_value());
    REQUIRE(store->save(sampleRun()).has_value());
    REQUIRE(store->setTags(1, "kept").has_value());
  }
  executeSql(path, "DROP TABLE levels; ALTER TABLE runs DROP COLUMN verdict; PRAGMA user_version = 4;");
  if (::geteuid() != 0) {  // root may write everywhere
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    const auto reading = RunStore::open(path, Access::readOnly);
    REQUIRE_FALSE(reading.has_value());
    CHECK(reading.error().text().find("earlier version") != std::string::npos);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  auto store = RunStore::open(path, Access::readWrite);
  REQUIRE(store.has_value());
  CHECK(pragmaText(path, "PRAGMA user_version") == "5");
  const auto old = store->load(1);
  REQUIRE(old.has_value());
  CHECK(old->verdict.empty());
  CHECK(old->command == sampleRun().command);
  CHECK(store->list(10)->front().tags == "kept");
  CHECK(encodeLog(store->loadLog(1, 0).value()) == encodeLog(sampleLog()));
  CHECK(store->loadLevels(1, 0).value().empty());
  REQUIRE(store->saveLevels(1, 0, "made later").has_value());
  CHECK(store->loadLevels(1, 0).value() == "made later");
  CHECK(store->load(store->save(sampleRun()).value())->verdict == sampleRun().verdict);
}

TEST_CASE("Levels belong to a log: they come back byte by byte, and go with it") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  auto store = RunStore::open(path, Access::readWrite);
  REQUIRE(store.has_value());
  REQUIRE(store->save(sampleRun()).has_value());
  CHECK(store->loadLevels(1, 0).value().empty());
  const std::string bytes("\0levels\xff\0", 9);
  REQUIRE(store->saveLevels(1, 0, "before").has_value());
  REQUIRE(store->saveLevels(1, 0, bytes).has_value());
  CHECK(store->loadLevels(1, 0).value() == bytes);
  CHECK_FALSE(store->saveLevels(1, 1, bytes).has_value());  // a report without a log
  CHECK_FALSE(store->saveLevels(2, 0, bytes).has_value());
  CHECK_FALSE(store->saveLevels(1, 0, {}).has_value());
  CHECK(store->loadLevels(2, 0).value().empty());

  SECTION("a store that is only read") {
    auto reading = RunStore::open(path, Access::readOnly);
    REQUIRE(reading.has_value());
    CHECK(reading->loadLevels(1, 0).value() == bytes);
    CHECK_FALSE(reading->saveLevels(1, 0, "x").has_value());
  }
  SECTION("another log in the place of theirs") {
    executeSql(path, "UPDATE logs SET log = log || x'00'");
    CHECK(store->loadLevels(1, 0).value().empty());
  }
  SECTION("a run that is purged") {
    REQUIRE(store->deleteRuns({1}, 1000).has_value());
    REQUIRE(store->purge(2000).has_value());
    CHECK(pragmaText(path, "SELECT count(*) FROM levels") == "0");
  }
}

TEST_CASE("Two processes write the levels of one log, a third reads them") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  {
    auto store = RunStore::open(path, Access::readWrite);
    REQUIRE((store.has_value() && store->save(sampleRun()).has_value()));
  }
  std::vector<pid_t> children;
  for (const char letter : {'a', 'b'})
    children.push_back(inChild([&, letter] {
      auto store = RunStore::open(path, Access::readWrite);
      for (int i = 0; i < 50; ++i)
        if (!store || !store->saveLevels(1, 0, std::string(20'000, letter))) ::_exit(1);
    }));
  children.push_back(inChild([&] {
    auto store = RunStore::open(path, Access::readOnly);
    for (int i = 0; i < 100; ++i) {
      const auto bytes = store ? store->loadLevels(1, 0) : core::Result<std::string>("x");
      if (!bytes || (!bytes->empty() && *bytes != std::string(20'000, bytes->front()))) ::_exit(1);
    }
  }));
  for (const pid_t child : children) CHECK(statusOf(child) == 0);
  CHECK(RunStore::open(path, Access::readOnly)->loadLevels(1, 0).value().size() == 20'000);
}

TEST_CASE("A store damaged in the middle gives errors, never a crash") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  {
    auto store = RunStore::open(path, Access::readWrite);
    for (int i = 0; i < 10; ++i) REQUIRE(store->save(sampleRun()).has_value());
  }
  const std::string whole = test::readFile(path);
  REQUIRE(whole.size() > 8192);
  for (std::size_t at = 100; at < whole.size(); at += 997) {
    std::string damaged = whole;
    for (std::size_t i = at; i < std::min(at + 64, damaged.size()); ++i) damaged[i] = '\x5a';
    test::writeFile(path, damaged);
    auto store = RunStore::open(path, Access::readOnly);
    if (!store) continue;
    static_cast<void>(store->list(100));
    for (std::int64_t id = 1; id <= 10; ++id) {
      static_cast<void>(store->load(id));
      static_cast<void>(store->loadLog(id, 0));
    }
  }
  test::writeFile(path, whole.substr(0, whole.size() / 2));
  auto store = RunStore::open(path, Access::readOnly);
  if (store) CHECK_FALSE((store->list(100).has_value() && store->load(10).has_value()));
}

TEST_CASE("Folders that cannot be written give an error") {
  test::TemporaryFolder folder;
  CHECK_FALSE(RunStore::open("/proc/vsim/runs.sqlite", Access::readWrite).has_value());
  test::writeFile(folder / "file", "x");
  CHECK_FALSE(RunStore::open(folder / "file/runs.sqlite", Access::readWrite).has_value());
  CHECK_FALSE(RunStore::open(folder.path(), Access::readWrite).has_value());
  CHECK_FALSE(RunStore::open(folder / "missing.sqlite", Access::readOnly).has_value());
  CHECK_FALSE(std::filesystem::exists(folder / "missing.sqlite"));
}

TEST_CASE("A store in a read-only folder can be read") {
  test::TemporaryFolder folder;
  const std::string path = folder / "odd name %41?x#y/runs.sqlite";
  {
    auto store = RunStore::open(path, Access::readWrite);
    REQUIRE(store.has_value());
    REQUIRE(store->save(sampleRun()).has_value());
  }
  const std::string parent = std::filesystem::path(path).parent_path().string();
  ::chmod(path.c_str(), 0444);
  ::chmod(parent.c_str(), 0555);
  auto store = RunStore::open(path, Access::readOnly);
  CHECK((store.has_value() && store->load(1).has_value()));
  // The superuser may write anywhere.
  if (::geteuid() != 0) CHECK_FALSE(RunStore::open(path, Access::readWrite).has_value());
  ::chmod(parent.c_str(), 0755);
}

TEST_CASE("The default path follows the XDG base directories") {
  ::setenv("XDG_DATA_HOME", "/data", 1);
  CHECK(defaultStorePath().value() == "/data/vsim/runs.sqlite");
  ::setenv("XDG_DATA_HOME", "relative", 1);
  ::setenv("HOME", "/home/u", 1);
  CHECK(defaultStorePath().value() == "/home/u/.local/share/vsim/runs.sqlite");
  ::unsetenv("XDG_DATA_HOME");
  ::unsetenv("HOME");
  CHECK_FALSE(defaultStorePath().has_value());
}

}  // namespace vsim::traces
