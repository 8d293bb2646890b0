#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QElapsedTimer>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>
#include <ctime>

#include "gui/view/runs/runs_page.h"
#include "gui/view/runs/runs_view.h"
#include "tests/support/sample_log.h"
#include "tests/support/temporary_folder.h"

namespace vsim::gui {
namespace {

using traces::RunStore;

traces::RunRecord record(const std::string& scenario, double stepSeconds = 0.1) {
  traces::RunRecord run;
  run.scenario = scenario;
  run.scenarioText = "vsim: 1\nname: " + scenario + "\n";
  run.command = "vsim run " + scenario + ".yaml";
  run.createdSeconds = 1'700'000'000;
  core::RunReport report;
  report.facts.scenario = scenario;
  report.facts.system = "vescale";
  report.facts.gpus = 8;
  report.completed = true;
  report.stepSeconds = stepSeconds;
  report.exposedCommSeconds = stepSeconds / 4;
  report.peakAllocated = 3'000'000'000;
  run.reports = {report};
  return run;
}

void fill(const std::string& path, int count) {
  auto store = RunStore::open(path, RunStore::Access::readWrite);
  REQUIRE(store.has_value());
  for (int i = 1; i <= count; ++i) REQUIRE(store->save(record("s" + std::to_string(i), 0.1 * i)).has_value());
}

void sql(const std::string& path, const char* text) {
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  CHECK(sqlite3_exec(database, text, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

/// The page on a store of its own.
struct Bench {
  explicit Bench(const std::string& file = "runs.sqlite", int runs = 3) : path(folder / file) {
    if (runs > 0) fill(path, runs);
    session.setStorePath(path);
    page = std::make_unique<RunsPage>(session, nullptr);
    page->resize(1200, 600);
    page->show();
    settle();
  }
  void settle() const {
    REQUIRE(QTest::qWaitFor([&] { return page->settled(); }, 20'000));
  }
  void trigger(const QString& id) const {
    for (const Command& command : page->commands())
      if (command.id == id) return command.run();
    FAIL(id.toStdString());
  }
  /// Waits for what was written to be shown.
  template <class Condition>
  bool waitFor(Condition condition) const {
    return QTest::qWaitFor(condition, 20'000);
  }
  [[nodiscard]] std::size_t shown() const { return page->model().table().shown(); }

  test::TemporaryFolder folder;
  std::string path;
  Session session;
  std::unique_ptr<RunsPage> page;
};

TEST_CASE("Runs are listed newest first, with what vsim runs prints") {
  const Bench bench;
  REQUIRE(bench.page->showsTable());
  REQUIRE(bench.shown() == 3);
  const auto text = [&](int row, RunColumn column) {
    const auto index = bench.page->model().index(row, static_cast<int>(column));
    return bench.page->model().data(index, Qt::DisplayRole).toString().toStdString();
  };
  CHECK(text(0, RunColumn::run) == "3");
  CHECK(text(0, RunColumn::scenario) == "s3");
  CHECK(text(2, RunColumn::step) == core::formatTime(core::picosecondsFromSeconds(0.1)));
  CHECK(text(0, RunColumn::exposed) == "25.0 %");
  CHECK(text(0, RunColumn::peak) == "2.79");  // GiB, as in reports
  CHECK(text(0, RunColumn::status) == "fits");
  bench.page->table().sortByColumn(static_cast<int>(RunColumn::step), Qt::AscendingOrder);
  CHECK(text(0, RunColumn::run) == "1");
}

TEST_CASE("Enter and double click open the run under the cursor") {
  const Bench bench;
  QSignalSpy spy(&bench.session, &Session::openRequested);
  bench.page->table().selectRow(1);
  QTest::keyClick(&bench.page->table(), Qt::Key_Return);
  REQUIRE(spy.count() == 1);
  const QRect cell = bench.page->table().visualRect(bench.page->model().index(0, 0));
  QTest::mouseClick(bench.page->table().viewport(), Qt::LeftButton, {}, cell.center());
  QTest::mouseDClick(bench.page->table().viewport(), Qt::LeftButton, {}, cell.center());
  REQUIRE(spy.count() == 2);
  CHECK(spy[0][0].value<RunSource>().id == 2);
  CHECK(spy[1][0].value<RunSource>().id == 3);
  CHECK(spy[1][0].value<RunSource>().path == bench.path);
}

TEST_CASE("The filter takes words and columns") {
  const Bench bench("runs.sqlite", 12);
  const auto with = [&](const char* text) {
    bench.page->filter().setText(text);
    return bench.shown();
  };
  CHECK(with("s12") == 1);
  CHECK(with("step:>1000") == 2);
  CHECK(with("step:<=200 vescale") == 2);
  CHECK(with("status:fits") == 12);
  CHECK(with("nothing:like") == 0);
  CHECK(bench.page->state() == "0 of 12 reports");
  CHECK(with("") == 12);
}

TEST_CASE("Tags, notes and the pin are kept in the store") {
  const Bench bench;
  bench.page->table().selectRow(0);
  bench.trigger("runs.tags");
  QTest::keyClicks(&bench.page->tags(), "paper best");
  QTest::keyClick(&bench.page->tags(), Qt::Key_Return);
  REQUIRE(bench.waitFor([&] { return bench.page->model().table().at(0).tags == "paper best"; }));
  bench.trigger("runs.note");
  QTest::keyClicks(&bench.page->note(), "with two layers");
  QTest::keyClick(&bench.page->note(), Qt::Key_Return);
  REQUIRE(bench.waitFor([&] { return bench.page->model().table().at(0).note == "with two layers"; }));
  bench.trigger("runs.pin");
  REQUIRE(bench.waitFor([&] { return bench.page->model().table().at(0).pinned; }));
  bench.settle();
  bench.page->table().selectRow(1);
  bench.trigger("runs.pin");
  REQUIRE(bench.waitFor([&] { return bench.page->model().table().at(1).pinned; }));
  CHECK_FALSE(bench.page->model().table().at(0).pinned);
  bench.page->filter().setText("tag:paper");
  CHECK(bench.shown() == 1);
}

TEST_CASE("Deleted runs come back with Undo") {
  const Bench bench;
  bench.page->table().selectRow(0);
  bench.trigger("runs.delete");
  REQUIRE(bench.waitFor([&] { return bench.shown() == 2; }));
  bench.settle();
  bench.trigger("runs.undo");
  REQUIRE(bench.waitFor([&] { return bench.shown() == 3; }));
  CHECK(bench.page->model().table().at(0).id == 3);
}

TEST_CASE("A pinned run is asked for once something is open") {
  Bench bench;
  REQUIRE(RunStore::open(bench.path, RunStore::Access::readWrite)->pin(2).has_value());
  QSignalSpy spy(&bench.session, &Session::openRequested);
  bench.page->commands().back().run();
  REQUIRE(bench.waitFor([&] { return bench.page->model().table().at(1).pinned; }));
  CHECK(spy.count() == 0);
  auto run = std::make_shared<OpenedRun>();
  run->reports = record("x").reports;
  bench.session.open(run);
  REQUIRE(spy.count() == 1);
  CHECK(spy[0][0].value<RunSource>().id == 2);
  CHECK(spy[0][1].value<OpenAs>() == OpenAs::baseline);
}

TEST_CASE("A run that another process stores appears by itself") {
  const Bench bench;
  fill(bench.path, 1);
  CHECK(bench.waitFor([&] { return bench.shown() == 4; }));
}

TEST_CASE("The rerun command goes to the clipboard; a calibration opens as text") {
  Bench bench;
  traces::RunRecord calibration;
  calibration.scenario = "H200";
  calibration.profile =
      traces::StoredProfile{.executor = "cuda", .device = "H200", .ranks = 8, .text = "vsim_profile: 1\n"};
  REQUIRE(RunStore::open(bench.path, RunStore::Access::readWrite)->save(calibration).has_value());
  bench.trigger("runs.refresh");
  REQUIRE(bench.waitFor([&] { return bench.shown() == 4; }));
  bench.page->table().selectRow(1);
  bench.trigger("runs.copy-command");
  CHECK(bench.waitFor([] { return QApplication::clipboard()->text() == "vsim run s3.yaml"; }));
  bench.page->table().selectRow(0);
  QSignalSpy spy(&bench.session, &Session::openRequested);
  bench.trigger("runs.open");
  REQUIRE(bench.waitFor([&] { return bench.page->findChild<QDialog*>() != nullptr; }));
  CHECK(bench.page->findChild<QDialog*>()->findChild<QPlainTextEdit*>()->toPlainText() ==
        "vsim_profile: 1\n");
  CHECK(spy.count() == 0);
}

TEST_CASE("Without runs the page offers the example") {
  const Bench bench("missing.sqlite", 0);
  REQUIRE_FALSE(bench.page->showsTable());
  QSignalSpy spy(&bench.session, &Session::openRequested);
  QTest::mouseClick(&bench.page->startPage().example(), Qt::LeftButton);
  REQUIRE(spy.count() == 1);
  const auto source = spy[0][0].value<RunSource>();
  CHECK(source.kind == RunSource::Kind::scenario);
  CHECK(source.store);
  CHECK(source.storePath == bench.path);
}

TEST_CASE("Files that are no store, damaged ones and later schemas give a message in the page") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  std::string expected;
  SECTION("text") {
    test::writeFile(path, "name: moe_10k\n");
    expected = "is not a run store";
  }
  SECTION("another program's") {
    sql(path, "CREATE TABLE t (x INTEGER)");
    expected = "another program";
  }
  SECTION("later schema") {
    fill(path, 1);
    sql(path, "PRAGMA user_version = 999");
    expected = "later version";
  }
  SECTION("damaged") {
    fill(path, 1);
    std::string bytes = test::readFile(path);
    for (std::size_t i = 100; i < std::min<std::size_t>(bytes.size(), 4000); ++i) bytes[i] = '\x5a';
    test::writeFile(path, bytes);
    std::filesystem::remove(path + "-wal");
    expected = "";
  }
  Session session;
  session.setStorePath(path);
  RunsPage page(session, nullptr);
  REQUIRE(QTest::qWaitFor([&] { return page.settled(); }, 20'000));
  CHECK_FALSE(page.showsTable());
  CHECK(page.startPage().text().contains(QString::fromStdString(expected)));
  for (const Command& command : page.commands()) command.run();
  CHECK(page.exportTable().rows.empty());
}

TEST_CASE("A store of the first schema is brought up to date when it is shown") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  fill(path, 2);
  sql(path,
      "DROP TABLE logs; DROP TABLE profiles; DROP TABLE marks; DROP TABLE levels;"
      "ALTER TABLE reports DROP COLUMN exposed_s; ALTER TABLE reports DROP COLUMN peak_bytes;"
      "ALTER TABLE runs DROP COLUMN verdict; PRAGMA user_version = 1;");
  Session session;
  session.setStorePath(path);
  RunsPage page(session, nullptr);
  REQUIRE(QTest::qWaitFor([&] { return page.settled(); }, 20'000));
  CHECK(page.showsTable());
  CHECK(page.model().table().at(0).peakBytes == 3'000'000'000);
}

TEST_CASE("A read-only store is shown and says that marks cannot be kept") {
  if (::geteuid() == 0) return;  // the superuser may write anywhere
  test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "in");
  fill(folder / "in/runs.sqlite", 1);
  ::chmod((folder / "in").c_str(), 0555);
  Session session;
  session.setStorePath(folder / "in/runs.sqlite");
  RunsPage page(session, nullptr);
  REQUIRE(QTest::qWaitFor([&] { return page.settled(); }, 20'000));
  CHECK(page.showsTable());
  CHECK(page.tags().isReadOnly());
  for (const Command& command : page.commands()) command.run();
  ::chmod((folder / "in").c_str(), 0755);
}

TEST_CASE("Every command runs on a filled page; the export draws and writes rows") {
  const Bench bench;
  for (const Command& command : bench.page->commands()) {
    command.run();
    CHECK_FALSE(command.name.isEmpty());
    CHECK_FALSE(command.help.isEmpty());
  }
  bench.settle();
  QImage picture(800, 300, QImage::Format_RGB32);
  QPainter painter(&picture);
  bench.page->drawExport(painter, picture.size());
  CHECK(bench.page->exportTable().header.size() == kRunColumns);
}

TEST_CASE("Ten thousand runs are read, filtered and sorted") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  fill(path, 1);
  sql(path,
      "PRAGMA foreign_keys = OFF; BEGIN;"
      "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
      "INSERT INTO runs (id, created, scenario, scenario_text, configuration, command, reports) "
      "SELECT i, created, 'scenario ' || i, scenario_text, configuration, command, r.reports FROM n, runs r "
      "WHERE "
      "r.id = 1;"
      "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
      "INSERT INTO reports SELECT i, position, system, i, completed, step_time_s * i, tokens_per_s, mfu, "
      "fits, "
      "exposed_s, peak_bytes FROM n, reports p WHERE p.run = 1; COMMIT;");
  QElapsedTimer clock;
  clock.start();
  const StoreContent content = readStore(path);
  const double read = 1e-6 * static_cast<double>(clock.nsecsElapsed());
  REQUIRE(content.rows.size() == 10'000);
  RunTableModel model(nullptr);
  clock.start();
  model.setRows(content.rows);
  const double shown = 1e-6 * static_cast<double>(clock.nsecsElapsed());
  clock.start();
  model.setFilter("scenario gpus:>5000");
  model.sort(static_cast<int>(RunColumn::scenario), Qt::AscendingOrder);
  const double filtered = 1e-6 * static_cast<double>(clock.nsecsElapsed());
  CHECK(model.rowCount() == 5000);
  WARN("10,000 runs: read " << read << " ms, shown " << shown << " ms, filtered and sorted " << filtered
                            << " ms");
}

TEST_CASE("A row opens its own report; runs that are open are not loaded to be compared with themselves") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  {
    auto store = RunStore::open(path, RunStore::Access::readWrite);
    traces::RunRecord two = record("two");
    two.reports.push_back(two.reports.front());
    two.reports.back().facts.system = "fsdp2";
    REQUIRE(store->save(two).has_value());
    REQUIRE(store->save(record("one")).has_value());
  }
  Session session;
  session.setStorePath(path);
  RunsPage page(session, nullptr);
  REQUIRE(QTest::qWaitFor([&] { return page.settled(); }, 20'000));
  QSignalSpy spy(&session, &Session::openRequested);
  const auto trigger = [&](const char* id) {
    for (const Command& command : page.commands())
      if (command.id == id) command.run();
  };
  REQUIRE(page.model().table().shown() == 3);
  for (int row = 0; row < 3; ++row) {
    page.table().selectRow(row);
    trigger("runs.open");
    const auto source = spy.back()[0].value<RunSource>();
    const traces::RunSummary& summary = page.model().table().at(static_cast<std::size_t>(row));
    CHECK(source.id == summary.id);
    CHECK(source.report == static_cast<int>(summary.position));
    if (summary.system == "fsdp2") CHECK(source.report == 1);
  }
  auto open = std::make_shared<OpenedRun>();
  open->id = 1;
  open->source = storedSource(1, path);
  session.open(open);
  spy.clear();
  page.table().selectAll();
  trigger("runs.compare");
  REQUIRE(spy.count() == 1);
  CHECK(spy[0][0].value<RunSource>().id == 2);
}

TEST_CASE("What an earlier window deleted comes back with Undo") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  fill(path, 3);
  REQUIRE(RunStore::open(path, RunStore::Access::readWrite)->deleteRuns({1, 3}, std::time(nullptr)));
  Session session;
  session.setStorePath(path);
  RunsPage page(session, nullptr);
  REQUIRE(QTest::qWaitFor([&] { return page.settled(); }, 20'000));
  REQUIRE(page.model().table().shown() == 1);
  const auto undo = [&] {
    for (const Command& command : page.commands())
      if (command.id == "runs.undo") command.run();
  };
  undo();
  CHECK(QTest::qWaitFor([&] { return page.model().table().shown() == 3; }, 20'000));
  QSignalSpy told(&session, &Session::message);
  undo();
  REQUIRE(QTest::qWaitFor([&] { return told.count() == 1; }, 20'000));
  CHECK(told[0][0].toString().contains("nothing to undo"));
}

}  // namespace
}  // namespace vsim::gui
