#include <QPainter>
#include <QTest>
#include <catch2/catch.hpp>

#include "gui/view/compare/compare_page_widget.h"
#include "gui/view/compare/compare_view.h"
#include "tests/gui/model/opened_scenario.h"

namespace vsim::gui {
namespace {

void settle(const View& view) {
  REQUIRE(QTest::qWaitFor([&] { return view.settled(); }, 20000));
}

struct Fixture {
  Session session;
  CompareView view{session, nullptr};
  Fixture() {
    view.resize(1280, 900);
    view.show();
  }
  void openTwo() {
    session.open(test::openScenario("tiny"));
    session.addForComparison(test::openScenario("tiny", {{"batch.micro_batch", "64"}}));
    settle(view);
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "Two runs are compared as they are opened") {
  CHECK_FALSE(view.comparison().has_value());
  openTwo();
  REQUIRE(view.comparison().has_value());
  CHECK(view.comparison()->sides.size() == 2);
  CHECK(view.first().currentText().startsWith("tiny"));
  CHECK(view.differences().model()->rowCount() == static_cast<int>(view.comparison()->rows.size()));
  CHECK(view.exportTable().rows.size() == view.comparison()->rows.size());
}

TEST_CASE_METHOD(Fixture, "Exchanging the sides turns every difference round") {
  openTwo();
  const double before = view.comparison()->rows.front().difference(1);
  REQUIRE(before != 0);
  for (const Command& command : view.commands())
    if (command.id == "compare.swap") command.run();
  settle(view);
  CHECK(view.comparison()->rows.front().difference(1) == Approx(-before));
}

TEST_CASE_METHOD(Fixture, "Any two reports can be chosen") {
  openTwo();
  REQUIRE(view.second().count() == 4);  // two systems each
  view.second().setCurrentIndex(1);
  settle(view);
  CHECK(view.comparison()->sides[1].figures().facts.system == "fsdp2");
  CHECK(view.comparison()->sides[1].run == session.current());
}

TEST_CASE_METHOD(Fixture, "Differences are sorted by size, whatever the sign") {
  openTwo();
  QAbstractItemModel& model = *view.differences().model();
  model.sort(4, Qt::DescendingOrder);
  CHECK(view.differences().model()->data(model.index(0, 4), Qt::DisplayRole).toString() != "-");
  model.sort(-1, Qt::AscendingOrder);
  CHECK(model.data(model.index(0, 1), Qt::DisplayRole).toString() == "step time");
  const QString change = model.data(model.index(0, 4), Qt::DisplayRole).toString();
  CHECK((change.contains('+') || change.contains('-')));
  CHECK((change.contains(QChar(0x25B2)) || change.contains(QChar(0x25BC))));
}

TEST_CASE_METHOD(Fixture, "Strips zoom, move and keep within their steps") {
  openTwo();
  StripsWidget& strips = view.strips();
  const TimeRange whole = strips.range(0), other = strips.range(1);
  REQUIRE_FALSE(whole.empty());
  CHECK(whole.length() != other.length());
  strips.zoom(0.5);
  CHECK(strips.range(0).length() == Approx(static_cast<double>(whole.length()) / 2).margin(2));
  for (int i = 0; i < 20; ++i) QTest::keyClick(&strips, Qt::Key_D);
  CHECK(strips.range(0).end == whole.end);
  CHECK(strips.range(1).end == other.end);
  for (int i = 0; i < 200; ++i) strips.zoom(0.5);
  CHECK(strips.range(0).length() >= 1);
  QTest::keyClick(&strips, Qt::Key_F);
  CHECK(strips.range(0) == whole);
  strips.zoom(0.5);
  QTest::mouseDClick(&strips, Qt::LeftButton, Qt::NoModifier, QPoint(600, 20));
  CHECK(session.view() == "timeline");
  CHECK(session.zoom() == strips.range(0));
}

TEST_CASE_METHOD(Fixture, "A baseline is what a single run is measured against") {
  session.open(test::openScenario("moe_10k"));
  settle(view);
  CHECK_FALSE(view.comparison().has_value());
  session.setBaseline(test::openScenario("tiny"));
  settle(view);
  REQUIRE(view.comparison().has_value());
  CHECK(view.comparison()->sides[0].run == session.baseline());
}

TEST_CASE_METHOD(Fixture, "Comparisons of what cannot be compared") {
  const auto draw = [&] {
    settle(view);
    QImage image(900, 700, QImage::Format_RGB32);
    QPainter painter(&image);
    view.drawExport(painter, image.size());
    view.grab();
  };
  draw();
  session.open(std::make_shared<OpenedRun>());
  draw();
  session.open(std::make_shared<OpenedRun>(test::madeUpRun(std::vector<core::RunReport>(12))));
  draw();
  REQUIRE(view.comparison().has_value());
  CHECK(view.comparison()->sides.size() == kMostSides);
  session.open(test::openScenario("moe_10k"));
  session.addForComparison(test::openScenario("tiny"));
  draw();
  session.setTheme(Theme::dark);
  for (const Command& command : view.commands()) {
    INFO(command.id.toStdString());
    command.run();
    draw();
  }
}

}  // namespace vsim::gui
