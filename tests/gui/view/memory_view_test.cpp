#include "gui/view/memory/memory_view.h"

#include <QApplication>
#include <QImage>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>

#include "app/run.h"
#include "gui/view/memory/memory_page.h"

using namespace vsim;
using gui::MemoryPage;
using gui::OpenedRun;
using gui::Selection;
using gui::Session;

namespace {

constexpr int kPatience = 5000;  // milliseconds for background work

Session::Run simulated(const std::string& scenario,
                       const std::vector<std::pair<std::string, std::string>>& overrides = {}) {
  auto results = app::run({.scenario = scenario, .overrides = overrides, .keepLogs = true},
                          [](const std::string&, double) {});
  REQUIRE(results);
  auto run = std::make_shared<OpenedRun>();
  run->title = scenario;
  for (auto& result : *results) {
    run->reports.push_back(result.report);
    run->logs.push_back(result.log);
  }
  return run;
}

const Session::Run& tiny() {
  static const Session::Run run = simulated("tiny");
  return run;
}

/// The page in a window of its own with its data there.
struct Shown {
  Session session;
  MemoryPage page{session, nullptr};

  explicit Shown(const Session::Run& run) {
    page.resize(1280, 800);
    if (run) session.open(run);
    page.show();
    settle();
  }
  void settle() {
    REQUIRE(QTest::qWaitFor([this] { return page.settled(); }, kPatience));
    QCoreApplication::processEvents();
  }
  template <class Widget>
  Widget* part() {
    auto* found = page.findChild<Widget*>();
    REQUIRE(found != nullptr);
    return found;
  }
};

std::shared_ptr<OpenedRun> withLog(const std::shared_ptr<core::ExecutionLog>& log) {
  auto run = std::make_shared<OpenedRun>(*tiny());
  run->reports.resize(1);
  run->logs = {log};
  return run;
}

}  // namespace

TEST_CASE("Without a run, a log or memory events the page says so") {
  Shown none(nullptr);
  CHECK(none.page.message().contains("No run"));
  CHECK(none.page.exportTable().rows.empty());

  Shown lost(withLog(nullptr));
  CHECK(lost.page.message().contains("not kept"));

  auto log = std::make_shared<core::ExecutionLog>(*tiny()->logs[0]);
  log->ranks.clear();
  Shown empty(withLog(log));
  CHECK(empty.page.message().contains("empty"));

  log = std::make_shared<core::ExecutionLog>(*tiny()->logs[0]);
  log->ranks[0].memory.clear();
  Shown bare(withLog(log));
  CHECK(bare.page.message().contains("no memory events"));
  for (gui::Command& command : bare.page.commands()) command.run();
  QImage image(400, 300, QImage::Format_RGB32);
  QPainter painter(&image);
  bare.page.drawExport(painter, image.size());
}

TEST_CASE("The page opens at the peak with the report's numbers") {
  Shown s(tiny());
  REQUIRE(s.page.data());
  const core::RunReport& report = tiny()->reports[0];
  CHECK(s.page.data()->curve.allocated(s.page.instant()) == report.peakAllocated);
  CHECK(s.page.warning().isEmpty());
  const auto* live = s.part<gui::LiveModel>();
  core::Bytes sum = 0;
  for (int row = 0; row < live->rowCount(); ++row)
    sum += live->data(live->index(row, 1), Qt::UserRole).toLongLong();
  CHECK(sum == report.peakAllocated);
  s.session.setReport(1);
  s.settle();
  CHECK(s.page.data()->curve.allocated(s.page.instant()) == tiny()->reports[1].peakAllocated);
}

TEST_CASE("Every command runs, with and without a run") {
  for (const Session::Run& run : {Session::Run(), tiny()}) {
    Shown s(run);
    for (gui::Command& command : s.page.commands()) {
      INFO(command.id.toStdString());
      CHECK_FALSE(command.help.isEmpty());
      command.run();
      s.settle();
    }
  }
}

TEST_CASE("Commands do what they say") {
  Shown s(tiny());
  const auto run = [&](const char* id) {
    for (gui::Command& command : s.page.commands())
      if (command.id == id) {
        command.run();
        s.settle();
        return;
      }
    FAIL("no command " << id);
  };
  s.part<gui::MemoryPlotWidget>()->setByEvent(false);
  const std::int64_t peak = s.page.instant();
  run("memory.next");
  CHECK(s.page.instant() == peak + 1);
  run("memory.previous");
  run("memory.previous");
  CHECK(s.page.instant() == peak - 1);
  run("memory.peak");
  CHECK(s.page.instant() == peak);
  run("memory.axis");
  CHECK(s.part<gui::MemoryPlotWidget>()->byEvent());
  run("memory.zoom-in");
  CHECK(s.session.zoom().empty());
  run("memory.axis");
  run("memory.zoom-in");
  const gui::TimeRange whole = s.page.data()->curve.whole();
  CHECK(s.session.zoom().length() < whole.length());
  run("memory.limit");
  CHECK(s.session.limit() == s.session.zoom());
  run("memory.clear-limit");
  CHECK_FALSE(s.session.limit());
  run("memory.centre");
  run("memory.centre");
  CHECK(s.session.zoom() == whole);
  s.session.setCursor(whole.end / 2);
  run("memory.at-cursor");
  CHECK(s.page.instant() == s.page.data()->curve.lastAt(whole.end / 2));
}

TEST_CASE("A click on the curve picks the highest instant of its column") {
  Shown s(tiny());
  auto* plot = s.part<gui::MemoryPlotWidget>();
  plot->grab();
  for (const bool byEvent : {false, true})
    for (const int x : {200, 500, 900}) {
      plot->setByEvent(byEvent);
      plot->grab();
      QTest::mouseClick(plot, Qt::LeftButton, {}, QPoint(x, plot->height() / 2));
      s.settle();
      CHECK(s.page.instant() >= 0);
      const core::Picoseconds time = s.page.data()->curve.time(s.page.instant());
      CHECK(time <= s.page.data()->curve.whole().end);
    }
  plot->setByEvent(false);
  plot->grab();
  const gui::TimeRange before = plot->view();
  QTest::mousePress(plot, Qt::LeftButton, {}, QPoint(400, 100));
  QTest::mouseMove(plot, QPoint(430, 100));
  QTest::mouseRelease(plot, Qt::LeftButton, {}, QPoint(430, 100));
  CHECK(plot->view().length() == before.length());
  QTest::mousePress(plot, Qt::LeftButton, Qt::ShiftModifier, QPoint(400, 100));
  QMouseEvent drag(QEvent::MouseMove, QPointF(600, 100), plot->mapToGlobal(QPointF(600, 100)), Qt::LeftButton,
                   Qt::LeftButton, Qt::ShiftModifier);
  QApplication::sendEvent(plot, &drag);
  QTest::mouseRelease(plot, Qt::LeftButton, Qt::ShiftModifier, QPoint(600, 100));
  CHECK(s.session.limit());
}

TEST_CASE("A buffer that is selected anywhere is selected everywhere") {
  Shown s(tiny());
  auto* treemap = s.part<gui::TreemapWidget>();
  treemap->resize(800, 300);
  QSignalSpy selected(&s.session, &Session::selectionChanged);
  const gui::MemoryTreemap& map = treemap->map();
  std::size_t largest = 0;
  for (std::size_t i = 0; i < map.tiles.size(); ++i)
    if (map.tiles[i].level == gui::MemoryTreemap::Tile::Level::buffer &&
        (map.tiles[largest].level != gui::MemoryTreemap::Tile::Level::buffer ||
         map.tiles[i].bytes > map.tiles[largest].bytes))
      largest = i;
  const gui::TreemapRect r = map.tiles[largest].rect;
  const core::Index buffer = map.tiles[largest].buffer;
  QTest::mouseClick(treemap, Qt::LeftButton, {}, QPointF(r.x + r.width / 2, r.y + r.height / 2).toPoint());
  CHECK(selected.count() == 1);
  CHECK(s.session.selection().kind == Selection::Kind::buffer);
  CHECK(s.session.selection().item == static_cast<std::int64_t>(buffer));
  s.settle();
  auto* tree = s.part<QTreeView>();
  const auto* order = qobject_cast<const QSortFilterProxyModel*>(tree->model());
  CHECK(s.part<gui::LiveModel>()->bufferAt(order->mapToSource(tree->currentIndex())) == buffer);
  auto* panel = s.part<gui::AllocationsPanel>();
  auto* table = panel->findChild<QTableView*>();
  CHECK(panel->model().bufferAt(table->currentIndex().row()) == buffer);
  CHECK(selected.count() == 1);  // following is not selecting

  table->setCurrentIndex(panel->model().index(0, 0));
  CHECK(s.session.selection().item == static_cast<std::int64_t>(panel->model().bufferAt(0)));
  QTest::keyClick(treemap, Qt::Key_Right);
  QTest::keyClick(treemap, Qt::Key_Down);
}

TEST_CASE("Allocations are filtered and sorted") {
  Shown s(tiny());
  auto* panel = s.part<gui::AllocationsPanel>();
  const int all = panel->model().rowCount();
  CHECK(all == static_cast<int>(s.page.data()->lifetimes.all().size()));
  auto* filter = panel->findChild<QLineEdit*>();
  QTest::keyClicks(filter, "gradients");
  s.settle();
  CHECK(panel->model().rowCount() < all);
  CHECK(panel->model().rowCount() > 0);
  filter->setText("no such thing");
  s.settle();
  CHECK(panel->model().rowCount() == 0);
  filter->clear();
  s.settle();
  auto* table = panel->findChild<QTableView*>();
  for (int column = 0; column < panel->model().columnCount(); ++column) {
    table->sortByColumn(column, Qt::DescendingOrder);
    s.settle();
    CHECK(panel->model().rowCount() == all);
  }
  table->sortByColumn(static_cast<int>(gui::AllocationColumn::taken), Qt::DescendingOrder);
  s.settle();
  const auto& rows = panel->model().rows();
  for (std::size_t i = 1; i < rows.size(); ++i)
    REQUIRE(s.page.data()->lifetimes.charge(rows[i - 1]) >= s.page.data()->lifetimes.charge(rows[i]));
  s.session.setLimit(gui::TimeRange{0, 1});
  s.settle();
  CHECK(panel->model().rowCount() < all);
}

TEST_CASE("The slider moves through the map") {
  Shown s(tiny());
  auto* map = s.part<gui::MapPanel>();
  REQUIRE(map->map());
  s.page.showTab(MemoryPage::kMap);
  map->slider().setValue(10);
  s.settle();
  CHECK(s.page.instant() == 10);
  REQUIRE(map->map());
  CHECK(map->map()->event == 10);
  CHECK(map->facts().contains("fragmentation"));
  map->segments().grab();
  const gui::SegmentLayout& picture = map->segments().picture();
  REQUIRE_FALSE(picture.pieces.empty());
  QTest::mouseClick(&map->segments(), Qt::LeftButton, {}, picture.pieces[0].box.topLeft() + QPoint(0, 3));
  CHECK(s.session.selection().kind == Selection::Kind::buffer);
}

TEST_CASE("A run that does not fit warns, names the request that failed, and still shows everything") {
  Shown s(simulated("llama3_8b_64", {{"batch.micro_batch", "64"}}));
  CHECK(s.page.warning().contains("out of memory"));
  REQUIRE(s.page.data()->allocator);
  CHECK(s.page.data()->allocator->failure());
  CHECK(s.part<gui::MapPanel>()->facts().contains("First request that failed"));
}

TEST_CASE("10,240 ranks open, export and change theme") {
  Shown s(simulated("moe_10k"));
  REQUIRE(s.page.data());
  for (const gui::Theme theme : {gui::Theme::dark, gui::Theme::highContrast, gui::Theme::light}) {
    s.session.setTheme(theme);
    CHECK_FALSE(s.page.grab().isNull());
  }
  for (const auto tab :
       {MemoryPage::kTreemap, MemoryPage::kTable, MemoryPage::kMap, MemoryPage::kAllocations}) {
    s.page.showTab(tab);
    s.settle();
    QImage image(1280, 800, QImage::Format_RGB32);
    QPainter painter(&image);
    s.page.drawExport(painter, image.size());
    const gui::DataTable table = s.page.exportTable();
    CHECK(table.header.size() == table.numeric.size());
    REQUIRE_FALSE(table.rows.empty());
    for (const auto& row : table.rows) REQUIRE(row.size() == table.header.size());
  }
}

TEST_CASE("A page that was never shown exports all the same") {
  Session session;
  MemoryPage page(session, nullptr);
  session.open(tiny());
  CHECK(page.settled());
  QImage image(800, 600, QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  page.drawExport(painter, image.size());
  CHECK(page.exportTable().rows.size() == tiny()->logs[0]->ranks[0].memory.size());
}

TEST_CASE("A log that goes on after memory was allocated") {
  auto log = std::make_shared<core::ExecutionLog>(*tiny()->logs[0]);
  auto& memory = log->ranks[0].memory;
  memory.erase(memory.begin(), memory.begin() + 5);
  Shown s(withLog(log));
  CHECK(s.page.warning().contains("the log begins after"));
  CHECK(s.part<gui::MapPanel>()->facts().contains("There is no map"));
  CHECK_FALSE(s.part<gui::MapPanel>()->map());
}

TEST_CASE("The pointer over the curve is no business of other pages; a click is") {
  Shown s(tiny());
  auto* plot = s.part<gui::MemoryPlotWidget>();
  plot->setByEvent(false);
  plot->grab();
  QSignalSpy moved(&s.session, &Session::cursorChanged);
  const QPointF at(500, 60);
  QMouseEvent move(QEvent::MouseMove, at, plot->mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
  QApplication::sendEvent(plot, &move);
  CHECK(moved.count() == 0);
  CHECK(plot->state().cursor);
  QTest::mouseClick(plot, Qt::LeftButton, {}, at.toPoint());
  CHECK(s.session.cursor() == s.page.data()->curve.time(s.page.instant()));
}

TEST_CASE("The instant follows the cursor that another page sets, hidden or not") {
  Shown s(tiny());
  const gui::MemoryCurve& curve = s.page.data()->curve;
  const auto at = [&](core::Picoseconds time) {
    s.session.setCursor(time);
    s.settle();
    return s.page.instant();
  };
  CHECK(at(curve.whole().end / 3) == curve.lastAt(curve.whole().end / 3));
  CHECK(at(0) == curve.lastAt(0));
  s.page.hide();
  const std::int64_t before = s.page.instant();
  CHECK(at(curve.whole().end / 2) == before);
  s.page.show();
  s.settle();
  CHECK(s.page.instant() == curve.lastAt(curve.whole().end / 2));
  s.session.setCursor(std::nullopt);
  CHECK(s.page.instant() == curve.lastAt(curve.whole().end / 2));
}
