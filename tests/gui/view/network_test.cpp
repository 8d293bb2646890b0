#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTest>

#include "gui/view/network/network_view.h"
#include "tests/gui/view/view_runs.h"

using namespace vsim;
using namespace vsim::gui;

namespace {

struct Page {
  Session session;
  NetworkView view{session, nullptr};
  Page() {
    view.resize(1280, 760);
    view.show();
  }
  void open(const std::shared_ptr<const OpenedRun>& run) {
    session.open(run);
    REQUIRE(waitFor([&] { return view.settled(); }));
  }
  [[nodiscard]] const QAbstractItemModel& table(const char* name) {
    for (QTableView* each : view.findChildren<QTableView*>())
      if (each->accessibleName() == name) return *each->model();
    throw std::runtime_error(name);
  }
  void run(const char* id) {
    for (const Command& command : view.commands())
      if (command.id == id) return command.run();
    throw std::runtime_error(id);
  }
};

}  // namespace

TEST_CASE("network view: without a log it says what to do") {
  Page page;
  CHECK(page.view.problem().contains("No run is open"));
  auto run = std::make_shared<OpenedRun>();
  run->reports.resize(1);
  run->logs.resize(1);
  page.open(run);
  CHECK(page.view.problem().contains("was not kept"));
  auto trace = std::make_shared<OpenedRun>();
  trace->imported = std::make_shared<TimelineData>();
  page.open(trace);
  CHECK(page.view.problem().contains("Traces of other programs"));
  auto empty = std::make_shared<OpenedRun>();
  empty->reports.resize(1);
  empty->logs.push_back(std::make_shared<core::ExecutionLog>());
  page.open(empty);
  CHECK(page.view.problem().contains("no ranks"));
  for (const Command& command : page.view.commands()) command.run();
  CHECK(page.view.exportTable().rows.empty());
  CHECK(coloursOf(exported(page.view, {800, 400})) > 1);
}

TEST_CASE("network view: every command, on runs of all sizes, in all themes") {
  for (const char* name : {"tiny", "gpt_oss_120b_64", "moe_10k", "mixtral_hsdp"}) {
    INFO(name);
    Page page;
    page.open(simulated(name));
    REQUIRE(page.view.map());
    page.run("network.fit-step");
    keep(page.view.grab().toImage(), QString("network_%1_light").arg(name));
    for (const Command& command : page.view.commands()) {
      INFO(command.id.toStdString());
      CHECK(!command.help.isEmpty());
      command.run();
      REQUIRE(waitFor([&] { return page.view.settled(); }));
      page.view.repaint();
    }
    for (const Theme theme : {Theme::dark, Theme::highContrast, Theme::light}) {
      page.session.setTheme(theme);
      CHECK(coloursOf(page.view.grab().toImage()) > 10);
    }
    CHECK(coloursOf(exported(page.view, {1200, 700})) > 10);
    const DataTable table = page.view.exportTable();
    CHECK(table.rows.size() == page.view.map()->flows().size());
  }
}

TEST_CASE("network view: a link that is clicked is selected, its collectives listed at the cursor") {
  Page page;
  page.open(simulated("gpt_oss_120b_64"));
  page.view.repaint();
  QApplication::processEvents();
  TopologyCanvas& topology = page.view.topology();
  QPixmap seen = topology.grab();
  REQUIRE(topology.links().size() == 2);  // one pod: no spine
  QTest::mouseClick(&topology, Qt::LeftButton, {}, topology.links()[1].area.center().toPoint());
  CHECK(page.session.selection().kind == Selection::Kind::link);
  CHECK(page.session.selection().item == static_cast<int>(topology.links()[1].tier));
  page.run("network.next");
  REQUIRE(page.session.cursor());
  const auto running = page.view.map()->runningAt(*page.session.cursor(), LinkTier::nic);
  REQUIRE(!running.empty());
  page.view.findChild<QTabWidget*>()->setCurrentIndex(3);  // the list is made when it is seen
  CHECK(page.table("Collectives that run at the cursor").rowCount() == static_cast<int>(running.size()));
  keep(page.view.grab().toImage(), "network_gpt_oss_cursor");
  page.run("network.none");
  CHECK(!page.session.cursor());
  CHECK(page.session.selection().kind == Selection::Kind::none);
}

TEST_CASE("network view: cursor, zoom and limit are the session's") {
  Page page;
  page.open(simulated("mixtral_hsdp"));
  LoadCanvas& loads = page.view.loads();
  const LoadLayout layout = loadLayout(*page.view.map(), loads.rect());
  const QPoint middle = layout.strips[0].center().toPoint();
  QTest::mouseClick(&loads, Qt::LeftButton, {}, middle);
  REQUIRE(page.session.cursor());
  CHECK(loads.axis().toX(*page.session.cursor()) == Approx(middle.x() - layout.plots.left()).margin(1));
  CHECK(page.session.zoom().empty());  // the timeline opens on its last step, whichever page comes first
  const TimeRange before = loads.axis().view;
  CHECK(before == page.view.map()->whole());
  page.run("network.zoom-in");
  CHECK(page.session.zoom().length() < before.length());
  const TimeRange inner = page.session.zoom();
  page.run("network.right");
  CHECK(page.session.zoom().begin > inner.begin);
  page.run("network.fit");
  page.run("network.limit");
  REQUIRE(page.session.limit());
  REQUIRE(waitFor([&] { return page.view.settled(); }));
  // The whole run in the limit: every collective counts.
  qlonglong all = 0;
  const QAbstractItemModel& groups = page.table("Collectives by kind and communicator");
  for (int row = 0; row < groups.rowCount(); ++row)
    all += groups.index(row, 4).data().toString().remove(",").toLongLong();
  CHECK(all == static_cast<qlonglong>(page.view.map()->flows().size()));
  page.session.setLimit(std::nullopt);
  REQUIRE(waitFor([&] { return page.view.settled(); }));
  CHECK(groups.rowCount() == static_cast<int>(page.session.current()->reports[0].collectives.size()));
}

TEST_CASE("network view: what ran on processors loads no links of the scenario's cluster") {
  OpenedRun run = *simulated("tiny");
  CHECK(clusterOf(run, 1).has_value());
  auto measured = std::make_shared<core::ExecutionLog>(*run.logs[0]);
  measured->executor = "host";
  run.logs[0] = measured;
  for (const int report : {0, 1}) {
    const auto cluster = clusterOf(run, report);
    REQUIRE_FALSE(cluster.has_value());
    CHECK(cluster.error().message.find("processors") != std::string::npos);
  }
}

TEST_CASE("network view: a run without a scenario has collectives and no rates") {
  Page page;
  auto run = std::make_shared<OpenedRun>(*simulated("tiny"));
  run->scenarioText.clear();
  page.open(run);
  REQUIRE(page.view.map());
  CHECK(!page.view.map()->known());
  CHECK(page.table("Collectives by kind and communicator").rowCount() > 0);
  for (const Command& command : page.view.commands()) command.run();
  CHECK(coloursOf(exported(page.view, {800, 400})) > 1);
}

TEST_CASE("network view: hidden, it has no work; the list at the cursor is made when it is seen") {
  const auto run = simulated("tiny");
  Session session;
  NetworkView hidden(session, nullptr);
  session.open(run);
  CHECK(hidden.settled());
  CHECK(hidden.map() == nullptr);
  hidden.show();
  REQUIRE(waitFor([&] { return hidden.settled() && hidden.map() != nullptr; }));
  const int before = hidden.listsMade();
  for (core::Picoseconds time = 0; time < 50; ++time) session.setCursor(time);
  CHECK(hidden.listsMade() == before);
  hidden.findChild<QTabWidget*>()->setCurrentIndex(3);
  session.setCursor(hidden.map()->flows().front().begin);
  CHECK(hidden.listsMade() > before);
  hidden.hide();
  const int seen = hidden.listsMade();
  session.setCursor(0);
  CHECK(hidden.listsMade() == seen);
}
