#include <QAbstractTableModel>
#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <ctime>

#include "core/plan/layout_rules.h"
#include "gui/view/plan/plan_view.h"
#include "tests/folders.h"
#include "tests/gui/view/view_runs.h"

using namespace vsim;
using namespace vsim::gui;

namespace {

struct Page {
  Session session;
  PlanView view{session, nullptr};
  Page() {
    view.resize(1280, 760);
    view.show();
  }
  void open(const std::shared_ptr<const OpenedRun>& run) {
    session.open(run);
    REQUIRE(waitFor([&] { return view.settled(); }));
  }
  [[nodiscard]] QComboBox& box(const char* name) {
    for (QComboBox* each : view.findChildren<QComboBox*>())
      if (each->accessibleName() == name) return *each;
    throw std::runtime_error(name);
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

std::shared_ptr<OpenedRun> foreign() {
  auto run = std::make_shared<OpenedRun>();
  run->title = "trace.json";
  run->imported = std::make_shared<TimelineData>();
  return run;
}

}  // namespace

TEST_CASE("plan view: without a run or a scenario it says what to do") {
  Page page;
  CHECK(page.view.problem().contains("No run is open"));
  CHECK(coloursOf(exported(page.view, {800, 400})) > 1);
  page.open(foreign());
  CHECK(page.view.problem().contains("Traces of other programs"));
  for (const Command& command : page.view.commands()) command.run();
  auto broken = std::make_shared<OpenedRun>();
  broken->scenarioText = "vsim: 1\nname: broken\nmodel: {preset: none}\n";
  page.open(broken);
  CHECK(page.view.problem().contains("cannot be planned"));
  CHECK(page.view.exportTable().rows.empty());
}

TEST_CASE("plan view: every command, on runs of all sizes, in all themes") {
  for (const char* name : {"tiny", "gpt_oss_120b_64", "moe_10k", "mixtral_hsdp"}) {
    INFO(name);
    Page page;
    page.open(simulated(name));
    REQUIRE(page.view.canvas().side(0).map);
    REQUIRE(page.view.canvas().side(1).map);
    keep(page.view.grab().toImage(), QString("plan_%1_light").arg(name));
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
    REQUIRE(!table.rows.empty());
    for (const auto& row : table.rows) CHECK(row.size() == table.header.size());
  }
}

TEST_CASE("plan view: numbers of the pages are the plans'") {
  Page page;
  page.open(simulated("gpt_oss_120b_64"));
  app::PlanOptions options;
  options.scenario.scenario = std::string(VSIM_SOURCE_DIR) + "/scenarios/gpt_oss_120b_64.yaml";
  const auto plans = app::makePlans(options);
  REQUIRE(plans);
  const QAbstractItemModel& systems = page.table("Systems compared");
  for (std::size_t i = 0; i < plans->size(); ++i) {
    const app::PlannedSystem& plan = (*plans)[i];
    const int row = static_cast<int>(i);
    CHECK(systems.index(row, 0).data().toString().toStdString() == plan.system);
    CHECK(systems.index(row, 1).data().toDouble() == Approx(100 * plan.paddingRatio()).margin(1e-4));
    CHECK(systems.index(row, 3).data().toString().remove(",").toLongLong() == plan.shardElements());
  }
  // Blocks that FSDP2 ignores are cut: as many as `vsim plan --systems` counts.
  options.rules = {"fsdp2"};
  const auto rules = app::makePlans(options);
  REQUIRE(rules);
  CHECK(systems.index(1, 5).data().toString().remove(",").toLongLong() == rules->front().cutTensors());
  // The lower map is FSDP2's, in which quantisation blocks are cut: red.
  const QAbstractItemModel& facts = page.table("Facts of the bucket");
  bool red = false;
  for (int row = 0; row < facts.rowCount(); ++row)
    red = red || facts.index(row, 0).data(Qt::ForegroundRole).isValid();
  CHECK(red);
}

TEST_CASE("plan view: a tensor is selected in both maps and in the session") {
  Page page;
  page.open(simulated("gpt_oss_120b_64"));
  PlanCanvas& canvas = page.view.canvas();
  QSignalSpy selected(&page.session, &Session::selectionChanged);
  const QRectF rows = PlanPainter::rowsArea(QRectF(0, 0, canvas.width(), canvas.height() / 2.0 - 11));
  QTest::mouseClick(&canvas, Qt::LeftButton, {},
                    QPoint(static_cast<int>(rows.center().x()), static_cast<int>(rows.top()) + 8));
  REQUIRE(!canvas.selected().empty());
  CHECK(selected.count() == 1);
  const Selection selection = page.session.selection();
  REQUIRE(selection.kind == Selection::Kind::unit);
  for (std::size_t side = 0; side < 2; ++side)
    CHECK(canvas.side(side).map->tensorNamed(canvas.selected()) >= 0);
  const auto& units = page.session.log()->program->units;
  REQUIRE(selection.item < static_cast<std::int64_t>(units.size()));
  CHECK(canvas.side(0).map->tensor(selection.detail).name == canvas.selected());
  // From elsewhere: the last unit's first tensor.
  page.session.select({.kind = Selection::Kind::unit, .item = 0, .detail = 0});
  REQUIRE(waitFor([&] { return page.view.settled(); }));
  CHECK(canvas.selected() == canvas.side(0).map->tensor(0).name);
  CHECK(page.box("Bucket").currentData().toString().toStdString() == units[0].name);
  page.run("plan.none");
  CHECK(canvas.selected().empty());
}

TEST_CASE("plan view: zoom reaches single elements and stays in the shard") {
  Page page;
  page.open(simulated("moe_10k"));
  PlanCanvas& canvas = page.view.canvas();
  const double all = canvas.viewEnd() - canvas.viewBegin();
  for (int i = 0; i < 100; ++i) page.run("plan.zoom-in");
  CHECK(canvas.viewEnd() - canvas.viewBegin() == Approx(1));
  page.view.repaint();
  for (int i = 0; i < 100; ++i) page.run("plan.zoom-out");
  CHECK(canvas.viewEnd() - canvas.viewBegin() == Approx(all));
  QWheelEvent wheel(QPointF(600, 80), canvas.mapToGlobal(QPointF(600, 80)), {}, {0, 240}, Qt::NoButton,
                    Qt::ControlModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(&canvas, &wheel);
  CHECK(canvas.viewEnd() - canvas.viewBegin() < all);
  page.run("plan.fit");
  page.run("plan.next");
  page.run("plan.fit-selected");
  keep(page.view.grab().toImage(), "plan_moe_10k_tensor");
  CHECK(canvas.viewEnd() - canvas.viewBegin() < all);
  page.run("plan.fit");
  CHECK(canvas.viewEnd() - canvas.viewBegin() == Approx(all));
}

TEST_CASE("plan view: another group size is planned and shown") {
  Page page;
  page.open(simulated("moe_10k"));
  CHECK(page.view.canvas().side(0).map->buffer().devices() <= 1024);
  page.view.showGroupSize(128);
  REQUIRE(waitFor([&] { return page.view.settled(); }));
  page.box("Bucket").setCurrentIndex(0);
  REQUIRE(waitFor([&] { return page.view.settled(); }));
  CHECK(page.view.canvas().side(0).map->buffer().devices() == 128);
  page.run("plan.larger");
  REQUIRE(waitFor([&] { return page.view.settled(); }));
  CHECK(page.view.canvas().side(0).map->buffer().devices() == 256);
  CHECK(page.table("Padding by group size").rowCount() == 7);
}

TEST_CASE("plan view: tensors are found by a part of their names") {
  Page page;
  page.open(simulated("gpt_oss_120b_64"));
  auto* search = page.view.findChild<QLineEdit*>();
  REQUIRE(search);
  search->setText("PROJ");
  QTest::keyClick(search, Qt::Key_Return);
  const std::string first = page.view.canvas().selected();
  CHECK(first.find("proj") != std::string::npos);
  QTest::keyClick(search, Qt::Key_Return);
  CHECK(page.view.canvas().selected() != first);
  QSignalSpy message(&page.session, &Session::message);
  search->setText("no such tensor");
  QTest::keyClick(search, Qt::Key_Return);
  CHECK(message.count() == 1);
}

TEST_CASE("plan view: thousands of tensors on 1,024 devices stay fluid") {
  app::PlannedBucket bucket{.name = "B", .problem = {}, .layout = {}, .order = {}};
  bucket.problem.devices = 1024;
  for (int i = 0; i < 4000; ++i) {
    const std::int64_t rows = 900 + i % 300;
    bucket.problem.tensors.push_back(
        {.name = "t" + std::to_string(i), .shape = {rows, 64}, .elements = rows * 64, .block = 64});
  }
  const core::LayoutRule& rule = *core::layoutRule("fsdp2");
  bucket.layout = *rule.layout(bucket.problem);
  auto map = PlanMap::make(bucket, "fsdp2", 4);
  REQUIRE(map);
  CHECK(map->rows().size() > 100);
  PlanCanvas canvas(nullptr);
  canvas.resize(1920, 900);
  canvas.setSides({std::make_shared<const PlanMap>(std::move(*map)), "t", {}, true}, {}, "fp32");
  QImage image(canvas.size(), QImage::Format_RGB32);
  QPainter painter(&image);
  canvas.draw(painter, canvas.rect());
  CHECK(canvas.painter().counts().pixels > 0);
  CHECK(canvas.painter().counts().pieces == 0);
  for (int i = 0; i < 30; ++i) canvas.zoom(0.8, -1);
  canvas.draw(painter, canvas.rect());
  CHECK(canvas.painter().counts().pieces > 0);
  const std::clock_t begin = std::clock();
  canvas.fit();
  for (int i = 0; i < 20; ++i) {
    canvas.zoom(0.9, -1);
    canvas.draw(painter, canvas.rect());
  }
  WARN("plan map, 4,000 tensors on 1,024 devices: "
       << 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / 20
       << " ms of processor time a frame");
}

TEST_CASE("plan view: a run is planned when the page is shown") {
  Session session;
  PlanView view(session, nullptr);
  session.open(simulated("tiny"));
  session.select({.kind = Selection::Kind::unit, .item = 0, .detail = 0});
  CHECK(view.settled());
  CHECK(!view.canvas().side(0).map);
  view.resize(1000, 700);
  view.show();
  REQUIRE(waitFor([&] { return view.settled() && view.canvas().side(0).map; }));
  CHECK(view.canvas().selected() == view.canvas().side(0).map->tensor(0).name);
}
