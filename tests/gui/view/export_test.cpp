#include "gui/export/export.h"

#include <QImage>
#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>

#include "gui/export/export_commands.h"
#include "gui/export/export_dialog.h"
#include "gui/view/summary/summary_page_widget.h"
#include "tests/gui/model/opened_scenario.h"
#include "tests/support/temporary_folder.h"

namespace vsim::gui {
namespace {

struct Fixture {
  Session session;
  SummaryView view{session, nullptr};
  test::TemporaryFolder folder;
  Fixture() {
    view.resize(900, 700);
    session.open(test::openScenario("tiny"));
    REQUIRE(QTest::qWaitFor([&] { return view.settled(); }, 20000));
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "Pictures have the size that was asked for") {
  for (const int scale : {1, 2, 4}) {
    const std::string path = folder / "a.png";
    REQUIRE(
        exportView(view, session, {.format = ExportFormat::png, .size = {640, 480}, .scale = scale}, path));
    const QImage image(QString::fromStdString(path));
    CHECK(image.width() == 640 * scale);
    CHECK(image.height() > 480 * scale);
  }
}

TEST_CASE_METHOD(Fixture, "Drawings hold text as text") {
  const std::string path = folder / "a.svg";
  REQUIRE(exportView(view, session, {.format = ExportFormat::svg, .size = {900, 700}}, path));
  const std::string text = test::readFile(path);
  CHECK(text.find("exposed communication") != std::string::npos);
  CHECK(text.find("tiny.yaml") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "Tables carry units") {
  const std::string path = folder / "a.csv";
  REQUIRE(exportView(view, session, {.format = ExportFormat::csv}, path));
  const std::string text = test::readFile(path);
  CHECK(text.starts_with("part,name,value,unit\r\n"));
  CHECK(text.find("step,compute,") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "What cannot be written is said, and nothing is left behind") {
  const auto nowhere = exportView(view, session, {}, folder / "no/such/a.png");
  REQUIRE_FALSE(nowhere.has_value());
  CHECK(nowhere.error().text().find("no/such") != std::string::npos);
  CHECK_FALSE(exportView(view, session, {.size = {10, 10}}, folder / "a.png").has_value());
  CHECK_FALSE(exportView(view, session, {.size = {9000, 9000}, .scale = 4}, folder / "a.png").has_value());
}

TEST_CASE("Formats by ending") {
  CHECK(formatOf("a.PNG") == ExportFormat::png);
  CHECK(formatOf("a.svg") == ExportFormat::svg);
  CHECK(formatOf("b.csv") == ExportFormat::csv);
  CHECK_FALSE(formatOf("a.gif").has_value());
}

TEST_CASE_METHOD(Fixture, "The dialog writes what it says") {
  auto* dialog = new ExportDialog(view, session, nullptr);
  dialog->show();
  CHECK(dialog->file().text().endsWith("summary-tiny.yaml.png"));
  dialog->format().setCurrentIndex(static_cast<int>(ExportFormat::csv));
  CHECK(dialog->file().text().endsWith(".csv"));
  dialog->file().setText(QString::fromStdString(folder / "no/such.csv"));
  dialog->accept();
  REQUIRE(QTest::qWaitFor([&] { return dialog->problem().contains("no/such"); }, 20000));
  CHECK(dialog->isVisible());
  dialog->file().setText(QString::fromStdString(folder / "there.csv"));
  QSignalSpy told(&session, &Session::message);
  dialog->accept();
  REQUIRE(QTest::qWaitFor([&] { return told.count() == 1; }, 20000));
  CHECK_FALSE(test::readFile(folder / "there.csv").empty());
}

TEST_CASE_METHOD(Fixture, "Both commands open their dialogs") {
  QWidget window;
  const auto commands = exportCommands([this] { return static_cast<View*>(&view); }, session, &window);
  for (const Command& command : commands) command.run();
  CHECK(window.findChildren<ExportDialog*>().size() == 1);
  const auto tables = window.findChildren<TableDialog*>();
  REQUIRE(tables.size() == 1);
  REQUIRE(QTest::qWaitFor([&] { return tables.front()->rows() >= 0; }, 20000));
  CHECK(tables.front()->rows() == static_cast<int>(view.exportTable().rows.size()));
  for (const Command& command : exportCommands([] { return nullptr; }, session, &window)) command.run();
}

}  // namespace vsim::gui
