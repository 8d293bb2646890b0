#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QFile>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>
#include <QTest>
#include <catch2/catch.hpp>
#include <set>

#include "gui/model/stored_levels.h"
#include "gui/session/watchdog.h"
#include "gui/view/memory/memory_page.h"
#include "gui/view/network/network_view.h"
#include "gui/view/scenario/scenario_page.h"
#include "gui/view/timeline/timeline_view.h"
#include "gui/window/command_palette.h"
#include "gui/window/key_positions.h"
#include "gui/window/main_window.h"
#include "gui/window/theme.h"
#include "tests/support/sample_log.h"
#include "tests/support/temporary_folder.h"
#include "traces/run_store.h"

namespace vsim::gui {
namespace {

struct Bench {
  Bench() : window(withStore(folder / "data/runs.sqlite")) {
    window.resize(1280, 800);
    window.show();
    REQUIRE(QTest::qWaitForWindowExposed(&window));
  }
  static Settings withStore(const std::string& path) {
    Settings settings;
    settings.storePath = path;
    return settings;
  }
  void trigger(const QString& id) const {
    const auto* entry = window.commands().find(id);
    REQUIRE(entry != nullptr);
    entry->action->trigger();
  }
  void settle() {
    REQUIRE(QTest::qWaitFor(
        [&] {
          for (const View* view : window.views())
            if (!view->settled()) return false;
          return !window.opener().busy();
        },
        60'000));
  }
  void open(const QString& word) {
    window.open(word);
    settle();
  }
  void closeDialogs() const {
    for (auto* dialog : window.findChildren<QDialog*>()) dialog->close();
  }

  test::TemporaryFolder folder;
  MainWindow window;
};

TEST_CASE("The example is run, stored and opened with one command; its link leads back") {
  Bench bench;
  bench.trigger("file.example");
  bench.settle();
  REQUIRE(bench.window.session().current() != nullptr);
  CHECK(bench.window.session().current()->id == 1);
  CHECK(bench.window.session().view() != "runs");
  CHECK(bench.window.tools().reports().count() == 2);
  CHECK(bench.window.tools().steps().count() == 3);
  bench.trigger("go.copy-link");
  const QString link = QApplication::clipboard()->text();
  CHECK(link.startsWith("vsim://run/1?"));
  bench.window.session().setReport(1);
  bench.window.session().setView("runs");
  bench.open(link);
  CHECK(bench.window.session().report() == 0);
  CHECK(bench.window.session().view() != "runs");
}

TEST_CASE("Every command runs: without a run, on a run without log, on a stored one, on 10,240 ranks") {
  Bench bench;
  SECTION("no run") {}
  SECTION("no log") {
    auto run = std::make_shared<OpenedRun>();
    run->title = "bare";
    run->reports.emplace_back();
    run->logs.emplace_back();
    bench.window.session().open(run);
  }
  SECTION("empty log") {
    auto log = std::make_shared<core::ExecutionLog>();
    log->program = std::make_shared<core::StepProgram>();
    auto run = std::make_shared<OpenedRun>();
    run->reports.emplace_back();
    run->logs.emplace_back(log);
    bench.window.session().open(run);
  }
  SECTION("tiny") { bench.open("tiny"); }
  SECTION("10,240 ranks") { bench.open("moe_10k"); }
  bench.settle();
  for (const View* view : bench.window.views()) {
    bench.window.session().setView(view->key());
    CHECK(bench.window.currentView() == view);
    for (const auto& entry : bench.window.commands().entries()) {
      INFO(entry.command.id.toStdString());
      CHECK_FALSE(entry.command.help.isEmpty());
      if (entry.page == view->key()) entry.action->trigger();
    }
    bench.closeDialogs();
  }
  for (const auto& entry : bench.window.commands().entries()) {
    if (!entry.page.isEmpty() || entry.command.id == "file.quit") continue;
    entry.action->trigger();
    QCoreApplication::processEvents();
    bench.closeDialogs();
  }
  bench.settle();
}

TEST_CASE("Ids and keys of commands are unique where they work together; all stand in a menu") {
  Bench bench;
  const auto& entries = bench.window.commands().entries();
  std::set<QString> ids;
  for (const auto& entry : entries) {
    INFO(entry.command.id.toStdString());
    CHECK(ids.insert(entry.command.id).second);
    CHECK(entry.keys.size() == sequencesOf(entry.command.keys).size());
  }
  std::size_t inMenus = 0;
  for (const QAction* action : bench.window.menuBar()->actions())
    inMenus += static_cast<std::size_t>(action->menu()->actions().size());
  CHECK(inMenus == entries.size());
}

TEST_CASE("Number keys show the pages; the palette finds a command by letters and runs it") {
  Bench bench;
  QTest::keyClick(&bench.window, Qt::Key_2);
  CHECK(bench.window.session().view() == bench.window.views()[1]->key());
  QTest::keyClick(&bench.window, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  auto* palette = bench.window.findChild<CommandPalette*>();
  REQUIRE(palette != nullptr);
  auto* input = palette->findChild<QLineEdit*>();
  QTest::keyClicks(input, "dark th");
  REQUIRE_FALSE(palette->shownNames().isEmpty());
  CHECK(palette->shownNames().front() == "look.theme-dark");
  QTest::keyClick(input, Qt::Key_Return);
  CHECK(bench.window.session().theme() == Theme::dark);
  CHECK(QApplication::palette().color(QPalette::Window).lightness() < 100);
  bench.trigger("look.theme-light");
}

TEST_CASE("The list of keys has every command") {
  Bench bench;
  bench.trigger("help.keys");
  auto* keys = bench.window.findChild<KeyList*>();
  REQUIRE(keys != nullptr);
  CHECK(keys->findChild<QAbstractItemView*>()->model()->rowCount() ==
        static_cast<int>(bench.window.commands().entries().size()));
}

TEST_CASE("W, A, S and D work by their place") {
  CHECK(KeyPositions::letterAt(25) == Qt::Key_W);
  CHECK(KeyPositions::letterAt(38) == Qt::Key_A);
  CHECK(KeyPositions::letterAt(39) == Qt::Key_S);
  CHECK(KeyPositions::letterAt(40) == Qt::Key_D);
  CHECK(KeyPositions::letterAt(24) == 0);
  QMainWindow window;
  CommandTable commands(&window);
  int forward = 0;
  commands.add("Test", {}, {{"test.w", "W", "W", "help", [&] { ++forward; }}});
  const KeyPositions positions(commands, &window);
  window.show();
  window.activateWindow();
  REQUIRE(QTest::qWaitForWindowActive(&window));
  const auto press = [&](int key, quint32 place) {
    for (const auto type : {QEvent::ShortcutOverride, QEvent::KeyPress}) {  // as the window system has it
      QKeyEvent event(type, key, Qt::NoModifier, place, 0, 0, QString(QChar(key).toLower()));
      event.ignore();
      QCoreApplication::sendEvent(&window, &event);
    }
  };
  press(Qt::Key_Z, 25);  // a French keyboard
  CHECK(forward == 1);
  press(Qt::Key_W, 52);
  CHECK(forward == 1);
}

TEST_CASE("Wrong words and runs that are not there are messages in the window") {
  Bench bench;
  const auto message = [&](const QString& word) {
    bench.open(word);
    return bench.window.banner().isVisible() ? bench.window.banner().text() : QString();
  };
  CHECK(message("7").contains("run 7"));
  CHECK(message("nosuch.yaml").contains("nosuch.yaml"));
  CHECK(message("missing.json").contains("no such file"));
  CHECK(message("vsim://run/x").contains("no address"));
  test::writeFile(bench.folder / "bad.yaml", "vsim: 1\nmodel: {preset: lama}\n");
  CHECK(message(QString::fromStdString(bench.folder / "bad.yaml")).contains("cannot be opened"));
  CHECK(bench.window.session().current() == nullptr);
}

/// The sample's steps over and over: 200,000 slices and more.
core::ExecutionLog longLog() {
  core::ExecutionLog log = test::sampleLog();
  core::RankLog& ranks = log.ranks[0];
  const std::vector<core::Slice> step(
      ranks.slices.begin() + static_cast<std::ptrdiff_t>(ranks.slices.size() / 2), ranks.slices.end());
  for (core::Picoseconds shift = ranks.stepEnd[1]; ranks.slices.size() < kSlicesWorthLevels + 1000;
       shift += ranks.stepEnd[1] - ranks.stepBegin[1])
    for (core::Slice slice : step) {
      for (core::Picoseconds* time : {&slice.issued, &slice.begin, &slice.end})
        *time += shift - ranks.stepBegin[1];
      ranks.slices.push_back(slice);
    }
  return log;
}

TEST_CASE("The first picture of a large run is stored once it was shown, and is there the next time") {
  Bench bench;
  const std::string path = bench.folder / "data/runs.sqlite";
  const core::ExecutionLog log = longLog();
  {
    traces::RunRecord record;
    record.scenario = "long";
    record.reports.push_back(
        core::makeReport(test::sampleLog(), test::sampleFacts(), test::sampleHardware()));
    record.logs = {&log};
    auto store = traces::RunStore::open(path, traces::RunStore::Access::readWrite);
    REQUIRE((store && store->save(record)));
  }
  bench.open("1");
  bench.window.session().setView("timeline");
  bench.settle();
  const auto levels = [&] {
    auto store = traces::RunStore::open(path, traces::RunStore::Access::readOnly);
    return store ? store->loadLevels(1, 0).value_or(std::string()) : std::string();
  };
  REQUIRE(QTest::qWaitFor([&] { return !levels().empty(); }, 20'000));
  CHECK(decodeLevels(levels()));

  std::vector<bool> loading;  // of the current run, each time that the session says so
  QObject::connect(&bench.window.session(), &Session::runsChanged, &bench.window,
                   [&] { loading.push_back(bench.window.session().current()->loading); });
  bench.window.session().setView("summary");
  bench.open("1");
  CHECK(loading == std::vector<bool>{true, false});
  CHECK(bench.window.session().view() == "summary");
  CHECK(bench.window.session().log() != nullptr);

  // Cancelled between the two, it stays what it is, and says so.
  bool cancelled = false;
  const auto cancels = QObject::connect(&bench.window.session(), &Session::runsChanged, &bench.window, [&] {
    if (cancelled || !bench.window.session().current()->loading) return;
    cancelled = true;
    bench.window.opener().cancel();
  });
  bench.open("1");
  QObject::disconnect(cancels);
  REQUIRE(cancelled);
  CHECK_FALSE(bench.window.session().current()->loading);
  CHECK(bench.window.session().log() == nullptr);
  CHECK_FALSE(bench.window.session().current()->notes.empty());
  bench.open("1");
  CHECK(bench.window.session().log() != nullptr);
}

TEST_CASE("A simulation can be cancelled") {
  Bench bench;
  bench.window.open("moe_10k");
  CHECK(bench.window.opener().busy());
  bench.trigger("go.cancel");
  CHECK_FALSE(bench.window.opener().busy());
  bench.settle();
  QTest::qWait(50);
  CHECK(bench.window.session().current() == nullptr);
}

TEST_CASE("Runs can be compared, made current and closed; back and forward step through pages") {
  Bench bench;
  bench.open("tiny");
  bench.window.open("tiny", OpenAs::comparison);
  bench.settle();
  REQUIRE(bench.window.session().runs().size() == 2);
  const auto second = bench.window.session().runs()[1];
  bench.window.session().makeCurrent(1);
  CHECK(bench.window.session().current() == second);
  bench.window.session().setView("runs");
  bench.window.session().setView("scenario");
  bench.trigger("go.back");
  CHECK(bench.window.session().view() == "runs");
  CHECK(bench.window.currentView()->key() == "runs");
  bench.trigger("go.forward");
  CHECK(bench.window.session().view() == "scenario");
  bench.trigger("file.close-run");
  bench.trigger("file.close-run");
  CHECK(bench.window.session().runs().empty());
}

TEST_CASE("The limit is a chip that removes it") {
  Bench bench;
  bench.open("tiny");
  CHECK_FALSE(bench.window.tools().limit().isVisible());
  bench.window.session().setLimit(TimeRange{0, 1'000'000'000});
  CHECK(QTest::qWaitFor([&] { return bench.window.tools().limit().isVisible(); }));
  CHECK(bench.window.tools().limit().text().startsWith("×"));
  bench.window.tools().limit().click();
  CHECK_FALSE(bench.window.session().limit().has_value());
}

TEST_CASE("Settings come back; nonsense in their file is ignored") {
  Settings settings;
  {
    Bench bench;
    bench.trigger("look.theme-contrast");
    bench.trigger("look.text-larger");
    bench.window.resize(1000, 700);
    settings = bench.window.settings();
    bench.window.close();
    bench.trigger("look.theme-light");
    bench.trigger("look.text-normal");
  }
  CHECK(loadSettings() == settings);
  CHECK(settings.fontScale == 110);
  const std::string file = qEnvironmentVariable("XDG_CONFIG_HOME").toStdString() + "/vsim/vsim-gui.ini";
  REQUIRE(QFile::exists(QString::fromStdString(file)));
  for (const char* text :
       {"\x01\x02\xff", "[General]\ntheme=42\nfont-scale=huge\ngeometry=@ByteArray(x)\ndocks=7\n", "[[[["}) {
    test::writeFile(file, text);
    const Settings read = loadSettings();
    CHECK_FALSE(read.theme.has_value());
    CHECK(read.fontScale == 100);
    MainWindow window(read);
    window.show();
  }
  QFile::remove(QString::fromStdString(file));
}

TEST_CASE("The window answers while it simulates and shows 10,240 ranks") {
  Bench bench;
  bench.open("tiny");
  for (const View* view : bench.window.views()) bench.window.session().setView(view->key());
  Watchdog watchdog;
  bench.open("moe_10k");
  double longest = watchdog.longestBusyMs();
  std::string told = "opening " + std::to_string(longest);
  for (const View* view : bench.window.views()) {
    watchdog.restart();
    bench.window.session().setView(view->key());
    bench.settle();
    QTest::qWait(20);
    longest = std::max(longest, watchdog.longestBusyMs());
    told += ", " + view->key().toStdString() + " " + std::to_string(watchdog.longestBusyMs());
  }
  WARN("longest stretches of the window's own work, ms: " << told);
  // Four times the target: other processes and sanitizers share the machine with the test.
  CHECK(longest < 4 * Watchdog::kLimitMs);
}

TEST_CASE("A run store is opened as a store, however it is named") {
  Bench bench;
  const std::string other = bench.folder / "other.yaml";
  REQUIRE(traces::RunStore::open(other, traces::RunStore::Access::readWrite).has_value());
  bench.window.session().setView("plan");
  bench.open(QString::fromStdString(other));
  CHECK(bench.window.session().storePath() == other);
  CHECK(bench.window.session().view() == "runs");
  CHECK_FALSE(bench.window.banner().isVisible());
}

TEST_CASE("The window asks before it closes over changes of a scenario") {
  Bench bench;
  bench.open("tiny");
  auto* page = bench.window.findChild<ScenarioPage*>();
  REQUIRE(page != nullptr);
  page->editor().appendPlainText("# mine");
  bench.window.close();
  CHECK(bench.window.isVisible());
  auto* box = bench.window.findChild<QMessageBox*>();
  REQUIRE(box != nullptr);
  box->button(QMessageBox::Cancel)->click();
  CHECK(bench.window.isVisible());
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  bench.window.close();
  box = bench.window.findChild<QMessageBox*>();
  REQUIRE(box != nullptr);
  box->button(QMessageBox::Discard)->click();
  CHECK_FALSE(bench.window.isVisible());
}

TEST_CASE("Steps are counted as traces count them, from 0") {
  Bench bench;
  bench.open("tiny");
  CHECK(bench.window.tools().steps().itemText(0).startsWith("all steps"));
  CHECK(bench.window.tools().steps().itemText(1).startsWith("step 0,"));
}

TEST_CASE("Addresses that do not fit the run open it and say so") {
  Bench bench;
  bench.open("tiny");
  bench.open("vsim://run/1?view=plan&report=99");
  CHECK(bench.window.session().current()->id == 1);
  CHECK(bench.window.banner().isVisible());
  CHECK(bench.window.banner().text().contains("report"));
}

TEST_CASE("The theme follows the desktop until one is chosen, and again when asked to") {
  Bench bench;
  CHECK_FALSE(bench.window.settings().theme.has_value());
  CHECK(bench.window.session().theme() == desktopTheme());
  bench.trigger("look.theme-dark");
  CHECK(bench.window.settings().theme == Theme::dark);
  bench.trigger("look.theme-desktop");
  CHECK_FALSE(bench.window.settings().theme.has_value());
  CHECK(bench.window.session().theme() == desktopTheme());
}

TEST_CASE("The next window shows what the last one did: run, report, page, zoom, marks, splitters, axes") {
  Bench bench;
  bench.open("tiny");
  bench.window.session().setReport(1);
  bench.window.session().setView("timeline");
  bench.settle();
  bench.window.session().setZoom({1'000'000, 9'000'000'000});
  bench.window.session().setCursor(2'000'000);
  bench.trigger("timeline.mark");
  bench.window.session().setView("sweep");
  bench.window.session().setView("timeline");
  auto* splitter = bench.window.view("timeline")->findChild<QSplitter*>();
  splitter->setSizes({700, 500});
  const QList<int> sizes = splitter->sizes();
  auto* runs = bench.window.view("runs")->findChild<QTableView*>("runs");
  runs->setColumnWidth(2, 77);
  const Settings settings = bench.window.settings();
  CHECK(settings.url.startsWith("vsim://run/1?"));
  saveSettings(settings);
  const Settings read = loadSettings();
  CHECK(read == settings);

  MainWindow next(read);
  next.resize(1280, 800);
  next.show();
  next.reopen(read);
  REQUIRE(QTest::qWaitFor(
      [&] {
        return next.session().current() != nullptr && !next.opener().busy() &&
               next.view("timeline")->settled();
      },
      60'000));
  CHECK(next.session().current()->id == 1);
  CHECK(next.session().report() == 1);
  CHECK(next.session().view() == "timeline");
  CHECK(next.session().zoom() == TimeRange{1'000'000, 9'000'000'000});
  CHECK(next.view("timeline")->findChild<QSplitter*>()->sizes() == sizes);
  CHECK(next.view("runs")->findChild<QTableView*>("runs")->columnWidth(2) == 77);
  auto* timeline = dynamic_cast<TimelineView*>(next.view("timeline"));
  REQUIRE(timeline->canvas().extras().marks.size() == 1);
  CHECK(timeline->canvas().extras().marks[0].range.begin == 2'000'000);

  Settings gone = read;
  gone.url = "vsim://run/99?view=plan";
  gone.page = "plan";
  MainWindow other(gone);
  other.show();
  other.reopen(gone);
  CHECK(other.session().current() == nullptr);
  CHECK_FALSE(other.banner().isVisible());
  QFile::remove(qEnvironmentVariable("XDG_CONFIG_HOME") + "/vsim/vsim-gui.ini");
}

TEST_CASE("A slice that is selected shows as unit, buffers and flows on the other pages") {
  Bench bench;
  bench.open("tiny");
  Session& session = bench.window.session();
  const auto show = [&](const char* page) {
    session.setView(page);
    bench.settle();
  };
  show("timeline");
  const auto* timeline = dynamic_cast<TimelineView*>(bench.window.view("timeline"));
  const SliceSearch search(timeline->canvas().scene()->sharedData(), "reduce-scatter");
  const auto slice = search.firstFrom(timeline->canvas().scene()->lastStep().begin);
  REQUIRE(slice);
  // As an address names it: the timeline knows the instruction.
  session.select({.kind = Selection::Kind::slice, .lane = slice->lane, .item = slice->slice});
  bench.settle();
  const SelectionLinks links = session.links();
  REQUIRE(links.unit != core::kNone);
  REQUIRE(links.buffers.size() >= 1);
  const auto history = session.selection();
  const std::string unit = session.log()->program->units[links.unit].name;

  show("plan");
  const auto boxes = bench.window.view("plan")->findChildren<QComboBox*>();
  const auto bucket = std::find_if(boxes.begin(), boxes.end(),
                                   [](const QComboBox* box) { return box->accessibleName() == "Bucket"; });
  REQUIRE(bucket != boxes.end());
  CHECK((*bucket)->currentText().startsWith(QString::fromStdString(unit.substr(0, 1))));  // alike: one bucket
  const auto labels = bench.window.view("plan")->findChildren<QLabel*>();
  CHECK(std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
    return label->text().contains("belongs to unit " + QString::fromStdString(unit));
  }));

  show("memory");
  const auto* memory = dynamic_cast<MemoryPage*>(bench.window.view("memory"));
  CHECK(memory->findChild<MemoryPlotWidget*>()->state().selected == links.buffers);
  const auto* allocations = memory->findChild<AllocationsPanel*>();
  const int row = allocations->findChild<QTableView*>()->currentIndex().row();
  CHECK(links.hasBuffer(allocations->model().bufferAt(row)));

  show("network");
  const auto* network = dynamic_cast<NetworkView*>(bench.window.view("network"));
  const LaneColumns& lane = timeline->canvas().scene()->data().lanes[static_cast<std::size_t>(slice->lane)];
  const auto at = static_cast<std::size_t>(slice->slice);
  const auto& framed = network->highlighted();
  CHECK(std::find(framed.begin(), framed.end(), TimeRange{lane.begin[at], lane.end[at]}) != framed.end());

  CHECK(session.selection() == history);  // following is not selecting
  session.select({});
  CHECK(network->highlighted().empty());
}

}  // namespace
}  // namespace vsim::gui
