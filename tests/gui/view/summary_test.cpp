#include <QPainter>
#include <QTest>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "gui/session/watchdog.h"
#include "gui/view/summary/summary_page_widget.h"
#include "gui/view/summary/summary_view.h"
#include "tests/gui/model/opened_scenario.h"

namespace vsim::gui {
namespace {

void settle(const View& view) {
  REQUIRE(QTest::qWaitFor([&] { return view.settled(); }, 20000));
}

}  // namespace

TEST_CASE("The summary's links lead to pages and times") {
  Session session;
  SummaryView view(session, nullptr);
  view.resize(1280, 800);
  view.show();
  session.open(test::openScenario("tiny"));
  session.setView("summary");
  settle(view);
  const auto& spots = view.canvas().spots();
  REQUIRE(spots.size() > 10);
  REQUIRE(view.destinations().size() == spots.size());
  std::set<std::string> pages;
  for (const HotSpot& spot : spots) {
    CHECK(spot.area.right() <= 1281);
    CHECK_FALSE(spot.tip.isEmpty());
    session.setView("summary");
    QTest::mouseClick(&view.canvas(), Qt::LeftButton, Qt::NoModifier, spot.area.center().toPoint());
    pages.insert(session.view().toStdString());
  }
  CHECK(pages.contains("timeline"));
  CHECK(pages.contains("memory"));
  CHECK_FALSE(session.zoom().empty());
}

TEST_CASE("Keys reach every link of the summary") {
  Session session;
  SummaryView view(session, nullptr);
  view.resize(900, 700);
  view.show();
  session.open(test::openScenario("tiny"));
  settle(view);
  session.setView("summary");
  view.canvas().setFocus();
  for (std::size_t i = 0; i < view.canvas().spots().size() + 2; ++i)
    QTest::keyClick(&view.canvas(), Qt::Key_Down);
  QTest::keyClick(&view.canvas(), Qt::Key_Return);
  CHECK(session.view() != "summary");
}

TEST_CASE("The summary compares with the baseline, else with the next run") {
  Session session;
  SummaryView view(session, nullptr);
  view.resize(1280, 800);
  session.open(test::openScenario("tiny"));
  settle(view);
  CHECK(view.page()->other.isEmpty());
  session.addForComparison(test::openScenario("tiny", {{"batch.micro_batch", "64"}}));
  settle(view);
  REQUIRE_FALSE(view.page()->differences.empty());
  CHECK(view.page()->differences.size() <= 10);
  CHECK(view.page()->otherStep > view.page()->step);
  session.setBaseline(test::openScenario("moe_10k"));
  settle(view);
  CHECK(view.page()->otherStep == Approx(session.baseline()->reports[0].stepSeconds));
}

TEST_CASE("The summary of no run, of an empty one, of ten thousand ranks") {
  Session session;
  const auto view = makeSummaryView(session, nullptr);
  view->resize(1280, 800);
  view->show();
  const auto draw = [&] {
    settle(*view);
    QImage image(800, 600, QImage::Format_RGB32);
    QPainter painter(&image);
    view->drawExport(painter, image.size());
    view->grab();
  };
  draw();
  CHECK(view->exportTable().rows.empty());
  auto empty = std::make_shared<OpenedRun>();
  empty->imported = std::make_shared<TimelineData>();
  session.open(empty);
  draw();
  session.open(std::make_shared<OpenedRun>(test::madeUpRun({core::RunReport{}})));
  draw();
  session.open(test::openScenario("moe_10k"));
  draw();
  CHECK_FALSE(view->exportTable().rows.empty());
  for (const Theme theme : {Theme::dark, Theme::highContrast}) {
    session.setTheme(theme);
    draw();
  }
  for (const Command& command : view->commands()) {
    INFO(command.id.toStdString());
    command.run();
    settle(*view);
  }
}

TEST_CASE("The window's thread is not held up by a large summary") {
  Session session;
  SummaryView view(session, nullptr);
  view.resize(1280, 800);
  view.show();
  const auto run = test::openScenario("moe_10k");
  Watchdog watchdog;
  QTest::qWait(20);
  watchdog.restart();
  session.open(run);
  settle(view);
  QTest::qWait(20);
  CHECK(watchdog.longestBusyMs() < Watchdog::kLimitMs * 4);  // sanitizers and busy machines
}

}  // namespace vsim::gui
