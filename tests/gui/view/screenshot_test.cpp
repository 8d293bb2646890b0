#include "gui/screenshot/screenshot.h"

#include <QFile>
#include <QFontDatabase>
#include <QFontInfo>
#include <QFontMetrics>
#include <QImage>
#include <catch2/catch.hpp>

#include "gui/screenshot/box_font.h"
#include "gui/window/view_table.h"
#include "tests/folders.h"
#include "tests/support/run_process.h"

namespace vsim::gui {
namespace {

test::ProcessResult shoot(std::vector<std::string> arguments, const std::string& home) {
  // As on a machine without a display.
  return test::runProcess(
      std::string(VSIM_BINARY_DIR) + "/gui/vsim-gui", std::move(arguments),
      {"DISPLAY=", "WAYLAND_DISPLAY=", "XDG_DATA_HOME=" + home, "XDG_CONFIG_HOME=" + home});
}

const std::string kTiny = std::string(VSIM_SOURCE_DIR) + "/scenarios/tiny.yaml";

}  // namespace

TEST_CASE("Options of pictures") {
  const auto all = readScreenshotOptions({"--screenshot", "summary", "--run", "42", "--run=last", "--db",
                                          "a b", "-o", "out.png", "--size", "640x480", "--theme=dark",
                                          "--csv", "out.csv", "--scale", "2", "--text", "boxes", "--window"});
  REQUIRE(all.has_value());
  CHECK(all->runs == QStringList{"42", "last"});
  CHECK(all->size == QSize(640, 480));
  CHECK(all->theme == Theme::dark);
  CHECK(all->scale == 2);
  CHECK((all->boxes && all->window));
  for (const QStringList& wrong :
       {QStringList{"--screenshot"},
        {"--screenshot", "nosuch", "--run", "1", "-o", "a.png"},
        {"--screenshot", "summary", "-o", "a.png"},
        {"--screenshot", "summary", "--run", "1"},
        {"--screenshot", "summary", "--run", "1", "-o", "a.gif"},
        {"--screenshot", "summary", "--run", "1", "-o", "a.png", "--size", "12"},
        {"--screenshot", "summary", "--run", "1", "-o", "a.png", "--scale", "9"},
        {"--screenshot", "summary", "--run", "1", "-o", "a.png", "--theme", "pink"},
        {"--screenshot", "summary", "--run", "1", "-o", "a.png", "--siez", "1x1"}})
    CHECK_FALSE(readScreenshotOptions(wrong).has_value());
  const auto unknown = readScreenshotOptions({"--screenshot", "sumary", "--run", "1", "-o", "a.png"});
  for (const ViewEntry& entry : viewTable())
    CHECK(unknown.error().text().find(entry.key) != std::string::npos);
}

TEST_CASE("Every view can be drawn without a display, as picture, drawing and table") {
  test::TemporaryFolder folder;
  for (const ViewEntry& entry : viewTable()) {
    INFO(entry.key);
    const std::string png = folder / (std::string(entry.key) + ".png"), svg = folder / "out.svg",
                      csv = folder / "out.csv";
    const auto run =
        shoot({"--screenshot", entry.key, "--run", kTiny, "-o", png, "--csv", csv, "--size", "800x500"},
              folder / "");
    INFO(run.err);
    REQUIRE(run.exitCode == 0);
    const QImage image(QString::fromStdString(png));
    CHECK(image.size() == QSize(800, 500));
    CHECK(QFile(QString::fromStdString(csv)).size() > 0);
  }
  const auto run = shoot({"--screenshot", "summary", "--run", kTiny, "-o", folder / "a.svg"}, folder / "");
  CHECK(run.exitCode == 0);
  CHECK(test::readFile(folder / "a.svg").find("<svg") != std::string::npos);
}

TEST_CASE("Commands are done before the picture is drawn") {
  test::TemporaryFolder folder;
  const auto rows = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"--screenshot", "timeline", "--run", kTiny, "--csv", folder / "out.csv"};
    words.insert(words.end(), more.begin(), more.end());
    const auto run = shoot(words, folder / "");
    INFO(run.err);
    REQUIRE(run.exitCode == 0);
    return test::readFile(folder / "out.csv");
  };
  CHECK(rows({}).starts_with("ranks,"));
  CHECK(rows({"--do", "timeline.path"}).starts_with("kind,"));  // the table of the critical path
}

TEST_CASE("The page of scenarios is drawn with a wrong one, too") {
  test::TemporaryFolder folder;
  test::writeFile(folder / "wrong.yaml", "vsim: 1\nname: x\nmodel: {preset: no-such}\n");
  const auto run = shoot({"--screenshot", "scenario", "--run", folder / "wrong.yaml", "-o", folder / "a.png",
                          "--csv", folder / "a.csv"},
                         folder / "");
  INFO(run.err);
  CHECK(run.exitCode == 0);
  CHECK(test::readFile(folder / "a.csv").find("no-such") != std::string::npos);
}

TEST_CASE("Exit codes and messages of pictures") {
  test::TemporaryFolder folder;
  const std::string out = folder / "a.png";
  const auto unknownView = shoot({"--screenshot", "nosuch", "--run", kTiny, "-o", out}, folder / "");
  CHECK(unknownView.exitCode == 2);
  CHECK(unknownView.err.find("summary") != std::string::npos);
  const auto noRun = shoot({"--screenshot", "summary", "--run", "7", "-o", out}, folder / "");
  CHECK(noRun.exitCode == 2);
  const auto noCommand =
      shoot({"--screenshot", "timeline", "--run", kTiny, "-o", out, "--do", "timeline.dance"}, folder / "");
  CHECK(noCommand.exitCode == 2);
  CHECK(noCommand.err.find("timeline.path") != std::string::npos);
  const auto noScenario = shoot({"--screenshot", "summary", "--run", "nosuch", "-o", out}, folder / "");
  CHECK(noScenario.exitCode == 2);
  const auto badUrl =
      shoot({"--screenshot", "summary", "--run", kTiny, "-o", out, "--url", "http://x"}, folder / "");
  CHECK(badUrl.exitCode == 2);
  const auto noFolder =
      shoot({"--screenshot", "summary", "--run", kTiny, "-o", folder / "no/such/a.png"}, folder / "");
  CHECK(noFolder.exitCode == 1);
  CHECK(noFolder.err.find("no/such") != std::string::npos);
  CHECK(shoot({"--screenshot", "summary", "--help"}, folder / "").exitCode == 0);
}

TEST_CASE("All letters of the box font are alike, blanks are empty") {
  REQUIRE(QFontDatabase::addApplicationFontFromData(boxFont()) >= 0);
  QFont font(kBoxFamily, 10);
  CHECK(QFontInfo(font).family() == kBoxFamily);
  const QFontMetrics metrics(font);
  const int width = metrics.horizontalAdvance(QChar('i'));
  CHECK(width > 0);
  for (const QChar c : {QChar('W'), QChar('%'), QChar(0xB5), QChar(0x25B2), QChar(0x4E2D)})
    CHECK(metrics.horizontalAdvance(c) == width);
  CHECK(metrics.horizontalAdvance(QChar(' ')) < width);
}

}  // namespace vsim::gui
