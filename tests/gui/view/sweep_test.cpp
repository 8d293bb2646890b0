#include <QPainter>
#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>

#include "gui/view/sweep/sweep_page_widget.h"
#include "gui/view/sweep/sweep_view.h"
#include "tests/gui/model/opened_scenario.h"
#include "tests/support/temporary_folder.h"
#include "traces/run_store.h"

namespace vsim::gui {
namespace {

void settle(const View& view) {
  REQUIRE(QTest::qWaitFor([&] { return view.settled(); }, 20000));
}

core::RunReport report(double step, bool fits) {
  core::RunReport made;
  made.facts.system = "vescale";
  made.facts.scenario = "made_up";
  made.facts.gpus = static_cast<std::int64_t>(step * 8);
  made.completed = true;
  made.stepSeconds = step;
  made.relativeError = 0.1;
  made.peakReserved = static_cast<core::Bytes>(1e10 / step);
  made.fits = fits;
  return made;
}

struct Fixture {
  Session session;
  SweepView view{session, nullptr};
  Fixture() {
    view.resize(1000, 700);
    view.show();
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "Every point of a sweep is drawn, and opens") {
  const auto run = test::openScenario("sweep_moe_10k");
  session.open(run);
  settle(view);
  REQUIRE(view.canvas().spots().size() == run->reports.size());
  for (std::size_t i = 0; i < run->reports.size(); ++i) {
    const HotSpot spot = view.canvas().spots()[i];
    session.setView("sweep");
    QTest::mouseClick(&view.canvas(), Qt::LeftButton, Qt::NoModifier, spot.area.center().toPoint());
    CHECK(session.report() == static_cast<int>(spot.id));
    CHECK(session.view() == "summary");
  }
}

TEST_CASE_METHOD(Fixture, "Points that do not fit are crosses, and never dropped") {
  session.open(
      std::make_shared<OpenedRun>(test::madeUpRun({report(1, true), report(2, false), report(4, true)})));
  CHECK(view.canvas().spots().size() == 3);
  const SweepPicture picture = sweepPicture(view.data(), view.choice());
  CHECK(picture.misfits == 1);
  std::size_t crossed = 0;
  for (const ChartSeries& series : picture.chart.series)
    for (const ChartPoint& point : series.points) {
      crossed += point.crossed ? 1 : 0;
      CHECK(point.error == Approx(point.y * 0.1));
    }
  CHECK(crossed == 1);
}

TEST_CASE_METHOD(Fixture, "Heat map, Pareto front, logarithms") {
  session.open(test::openScenario("sweep_moe_10k"));
  view.kind().setCurrentIndex(static_cast<int>(SweepChoice::Kind::pareto));
  CHECK(view.data().columns[view.choice().x].name == kPeakColumn);
  CHECK(view.canvas().spots().size() == 5);
  view.kind().setCurrentIndex(static_cast<int>(SweepChoice::Kind::heatMap));
  CHECK_FALSE(view.canvas().spots().empty());
  SweepChoice choice = suggestedChoice(view.data());
  choice.logY = true;
  view.setChoice(choice);
  CHECK(view.canvas().spots().size() == 5);
}

TEST_CASE_METHOD(Fixture, "Stored runs are read in the background and opened on request") {
  test::TemporaryFolder folder;
  const std::string path = folder / "runs.sqlite";
  {
    auto store = traces::RunStore::open(path, traces::RunStore::Access::readWrite);
    REQUIRE(store.has_value());
    for (const double step : {1.0, 2.0}) {
      traces::RunRecord record;
      record.scenario = "made_up";
      record.reports = {report(step, true), report(step * 4, false)};
      REQUIRE(store->save(record).has_value());
    }
  }
  session.setStorePath(path);
  QSignalSpy asked(&session, &Session::openRequested);
  view.source().setCurrentIndex(static_cast<int>(SweepView::Source::stored));
  settle(view);
  REQUIRE(view.data().points.size() == 4);
  REQUIRE_FALSE(view.canvas().spots().empty());
  QTest::mouseClick(&view.canvas(), Qt::LeftButton, Qt::NoModifier,
                    view.canvas().spots().front().area.center().toPoint());
  REQUIRE(asked.count() == 1);
  const SweepPoint& point = view.data().points[view.canvas().spots().front().id];
  CHECK(asked[0][0].value<RunSource>().id == point.run);
  for (const HotSpot& spot : view.canvas().spots()) {  // every point leads to its own report
    QTest::mouseClick(&view.canvas(), Qt::LeftButton, Qt::NoModifier, spot.area.center().toPoint());
    CHECK(asked.back()[0].value<RunSource>().report == view.data().points[spot.id].report);
  }
  test::writeFile(path, "no database at all, and long enough for a header");
  view.source().setCurrentIndex(0);
  view.source().setCurrentIndex(static_cast<int>(SweepView::Source::stored));
  settle(view);
  CHECK(view.data().points.empty());
}

TEST_CASE_METHOD(Fixture, "Sweeps of nothing, of one point, of everything") {
  const auto draw = [&] {
    settle(view);
    QImage image(700, 500, QImage::Format_RGB32);
    QPainter painter(&image);
    view.drawExport(painter, image.size());
    view.grab();
    const DataTable table = view.exportTable();
    for (const auto& row : table.rows) CHECK(row.size() == table.header.size());
  };
  draw();
  session.open(std::make_shared<OpenedRun>());
  draw();
  session.open(test::openScenario("tiny"));
  draw();
  session.addForComparison(test::openScenario("moe_10k"));
  view.source().setCurrentIndex(static_cast<int>(SweepView::Source::opened));
  draw();
  CHECK(view.data().points.size() == 3);
  for (const Theme theme : {Theme::light, Theme::dark, Theme::highContrast}) {
    session.setTheme(theme);
    for (const Command& command : view.commands()) {
      INFO(command.id.toStdString());
      command.run();
      draw();
    }
  }
}

}  // namespace vsim::gui
