#include <QDir>
#include <QFile>
#include <QImage>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/folders.h"
#include "tests/gui/view/image_difference.h"
#include "tests/support/run_process.h"

// Pictures of fixed runs against those in tests/gui/view/golden. Letters are boxes, so that only what is
// where counts, on every machine. VSIM_UPDATE_GOLDEN=1 writes them anew.

namespace vsim::test {
namespace {

const std::string kScenarios = std::string(VSIM_SOURCE_DIR) + "/scenarios/";

/// Draws and compares. The picture and the difference of a failure are left in the build folder.
void checkGolden(const std::string& name, std::vector<std::string> arguments) {
  const std::string folder = std::string(VSIM_BINARY_DIR) + "/golden";
  REQUIRE(QDir().mkpath(QString::fromStdString(folder)));
  const std::string actual = folder + "/" + name + ".png";
  const std::string expected = std::string(VSIM_SOURCE_DIR) + "/tests/gui/view/golden/" + name + ".png";
  arguments.insert(arguments.end(), {"--text", "boxes", "-o", actual});
  const auto run =
      runProcess(std::string(VSIM_BINARY_DIR) + "/gui/vsim-gui", arguments,
                 {"QT_QPA_PLATFORM=offscreen", "XDG_DATA_HOME=" + folder, "XDG_CONFIG_HOME=" + folder});
  INFO(run.err);
  REQUIRE(run.exitCode == 0);
  const QImage drawn(QString::fromStdString(actual));
  REQUIRE_FALSE(drawn.isNull());
  if (qEnvironmentVariableIsSet("VSIM_UPDATE_GOLDEN")) {
    const QImage indexed = drawn.convertToFormat(QImage::Format_RGB888);
    REQUIRE(indexed.save(QString::fromStdString(expected), "PNG", 0));
    return;
  }
  const ImageDifference found = difference(drawn, QImage(QString::fromStdString(expected)));
  const std::string differing = folder + "/" + name + "-difference.png";
  if (found.tolerable()) {
    QFile::remove(QString::fromStdString(differing));
  } else if (!found.image.isNull()) {
    found.image.save(QString::fromStdString(differing));
  }
  INFO("expected " << expected << "\nactual   " << actual << "\ndiffering " << differing << "\nchanged "
                   << found.changed * 100 << " % of pixels, mean difference " << found.mean
                   << "\nVSIM_UPDATE_GOLDEN=1 takes the new picture");
  CHECK(found.tolerable());
}

/// tiny with a larger batch, for comparisons.
std::string largerBatch(const TemporaryFolder& folder) {
  std::string text = readFile(kScenarios + "tiny.yaml");
  const std::string from = "micro_batch: 1", to = "micro_batch: 4";
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  writeFile(folder / "larger.yaml", text);
  return folder / "larger.yaml";
}

}  // namespace

TEST_CASE("Golden: summary") {
  checkGolden("summary",
              {"--screenshot", "summary", "--run", kScenarios + "tiny.yaml", "--size", "1000x700"});
}

TEST_CASE("Golden: summary, dark, with differences") {
  TemporaryFolder folder;
  checkGolden("summary_dark", {"--screenshot", "summary", "--run", kScenarios + "tiny.yaml", "--run",
                               largerBatch(folder), "--size", "760x900", "--theme", "dark"});
}

TEST_CASE("Golden: compare") {
  TemporaryFolder folder;
  checkGolden("compare", {"--screenshot", "compare", "--run", kScenarios + "tiny.yaml", "--run",
                          largerBatch(folder), "--size", "1000x700"});
}

TEST_CASE("Golden: sweep") {
  checkGolden("sweep",
              {"--screenshot", "sweep", "--run", kScenarios + "sweep_moe_10k.yaml", "--size", "900x560"});
}

TEST_CASE("Golden: timeline with its critical path, dark") {
  checkGolden("timeline_dark", {"--screenshot", "timeline", "--run", kScenarios + "tiny.yaml", "--size",
                                "1000x500", "--theme", "dark", "--do", "timeline.path"});
}

TEST_CASE("Golden: memory") {
  checkGolden("memory", {"--screenshot", "memory", "--run", kScenarios + "tiny.yaml", "--size", "900x600"});
}

TEST_CASE("Golden: plan") {
  checkGolden("plan",
              {"--screenshot", "plan", "--run", kScenarios + "llama3_8b_64.yaml", "--size", "1000x640"});
}

TEST_CASE("Golden: network") {
  checkGolden("network",
              {"--screenshot", "network", "--run", kScenarios + "llama3_8b_64.yaml", "--size", "1000x640"});
}

TEST_CASE("Golden: scenario with problems") {
  TemporaryFolder folder;
  std::string text = readFile(kScenarios + "tiny.yaml");
  text.replace(text.find("fsdp: 4"), 7, "fsdp: 3");
  writeFile(folder / "wrong.yaml", text);
  checkGolden("scenario", {"--screenshot", "scenario", "--run", folder / "wrong.yaml", "--size", "900x600"});
}

TEST_CASE("A difference of one row is found, noise is not") {
  QImage a(400, 300, QImage::Format_RGB32);
  a.fill(Qt::white);
  QImage b = a;
  b.setPixel(10, 10, qRgb(0, 0, 0));
  for (int x = 0; x < 400; ++x) b.setPixel(x, 20, qRgb(250, 250, 250));
  CHECK(difference(a, b).tolerable());
  for (int x = 0; x < 400; ++x) b.setPixel(x, 100, qRgb(200, 0, 0));
  CHECK_FALSE(difference(a, b).tolerable());
  CHECK_FALSE(difference(a, QImage()).tolerable());
  CHECK_FALSE(difference(a, a.scaled(200, 150)).tolerable());
}

}  // namespace vsim::test
