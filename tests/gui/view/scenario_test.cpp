#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>

#include "gui/view/scenario/scenario_page.h"
#include "tests/support/temporary_folder.h"

namespace vsim::gui {
namespace {

constexpr const char* kText = R"(# a comment that stays
vsim: 1
name: small
model: {preset: llama-3-8b}
cluster: {preset: h100-rail-optimized, gpus: 16}
parallel: {fsdp: 16}
systems: [{name: vescale, layers_per_bucket: 2}, fsdp2]
batch: {sequence: 4096, micro_batch: 1}
)";

struct Bench {
  explicit Bench(const char* text = kText) {
    test::writeFile(file(), text);
    page.resize(1280, 800);
    page.show();
    page.load(QString::fromStdString(file()));
    settle();
  }
  [[nodiscard]] std::string file() const { return folder / "small.yaml"; }
  void settle() {
    REQUIRE(QTest::qWaitFor([&] { return page.settled(); }, 20'000));
  }
  [[nodiscard]] QString text() const { return page.editor().toPlainText(); }
  template <class Widget>
  Widget& field(const char* key) {
    auto* widget = qobject_cast<Widget*>(page.form().field(key));
    REQUIRE(widget != nullptr);
    return *widget;
  }
  void type(const char* key, const char* value) {
    auto& line = field<QLineEdit>(key);
    line.setFocus();
    line.selectAll();
    QTest::keyClicks(&line, value);
    QTest::keyClick(&line, Qt::Key_Return);
    settle();
  }

  test::TemporaryFolder folder;
  Session session;
  ScenarioPage page{session, nullptr};
};

TEST_CASE("The form shows what the text says, defaults included") {
  Bench bench;
  CHECK(bench.page.state() == "no problems");
  CHECK(bench.page.form().value("cluster.gpus") == "16");
  CHECK(bench.page.form().value("parallel.replicate") == "1");
  CHECK(bench.page.form().value("model.preset") == "llama-3-8b");
  CHECK(bench.page.form().value("precision.compute") == "bf16");
  CHECK(bench.page.form().value("systems") == "vescale, fsdp2");
  CHECK(bench.page.exportTable().rows.size() > 15);
}

TEST_CASE("A field changes its value in the text and nothing else") {
  Bench bench;
  bench.type("batch.micro_batch", "4");
  CHECK(bench.text() == QString(kText).replace("micro_batch: 1", "micro_batch: 4"));
  CHECK(bench.page.state() == "no problems");
  bench.page.editor().undo();
  CHECK(bench.text() == kText);
}

TEST_CASE("Values that the text lacks are added; systems keep their options") {
  Bench bench;
  bench.type("batch.accumulation", "2");
  CHECK(bench.text().contains("micro_batch: 1, accumulation: 2}"));
  auto& choice = bench.field<QComboBox>("activation_checkpointing");
  choice.setCurrentText("full");
  emit choice.activated(choice.currentIndex());
  bench.settle();
  CHECK(bench.text().endsWith("activation_checkpointing: full\n"));
  for (auto* box : bench.page.form().findChildren<QCheckBox*>())
    if (box->text() == "fsdp2") box->click();
  bench.settle();
  CHECK(bench.text().contains("systems: [{name: vescale, layers_per_bucket: 2}]"));
  CHECK(bench.page.state() == "no problems");
}

TEST_CASE("Text changes the form") {
  Bench bench;
  bench.page.editor().setPlainText(
      QString(kText).replace("gpus: 16", "gpus: 32").replace("fsdp: 16", "fsdp: 32"));
  bench.settle();
  CHECK(bench.page.form().value("cluster.gpus") == "32");
}

TEST_CASE("Mistakes are marked at their line and field, with the reader's hint") {
  Bench bench;
  bench.page.editor().setPlainText(
      QString(kText).replace("micro_batch", "micro_bach").replace("gpus: 16", "gpus: x"));
  bench.settle();
  CHECK(bench.page.problems().isVisible());
  CHECK(bench.page.editor().marks().contains(5));
  CHECK(bench.page.editor().marks().contains(8));
  CHECK(bench.page.editor().marks().at(8).contains("did you mean"));
  CHECK_FALSE(bench.page.form().field("cluster.gpus")->accessibleDescription().isEmpty());
  CHECK_FALSE(bench.page.runButton().isEnabled());
  QSignalSpy spy(&bench.session, &Session::openRequested);
  for (const Command& command : bench.page.commands())
    if (command.id == "scenario.run") command.run();
  CHECK(spy.count() == 0);
  CHECK(bench.page.editor().textCursor().blockNumber() + 1 == 5);
}

TEST_CASE("A field's wrong value is refused by the same check") {
  Bench bench;
  bench.type("parallel.fsdp", "7");
  CHECK_FALSE(bench.page.form().field("cluster.gpus")->accessibleDescription().isEmpty());
  CHECK_FALSE(bench.page.problems().isHidden());
  CHECK_FALSE(bench.page.runButton().isEnabled());
  bench.type("parallel.fsdp", "8");
  bench.type("parallel.replicate", "3");
  CHECK_FALSE(bench.page.form().field("parallel.fsdp")->accessibleDescription().isEmpty());
  CHECK_FALSE(bench.page.form().field("parallel.replicate")->accessibleDescription().isEmpty());
  CHECK(bench.page.form().field("cluster.gpus")->accessibleDescription().isEmpty());
  bench.type("parallel.replicate", "2");
  CHECK(bench.page.state() == "no problems");
}

TEST_CASE("Run hands the text over as it stands") {
  Bench bench;
  QSignalSpy spy(&bench.session, &Session::openRequested);
  bench.page.runButton().click();
  REQUIRE(spy.count() == 1);
  CHECK_FALSE(spy[0][0].value<RunSource>().text.has_value());
  CHECK(spy[0][0].value<RunSource>().store);
  bench.type("batch.micro_batch", "2");
  bench.page.storeBox().setChecked(false);
  bench.page.runButton().click();
  REQUIRE(spy.count() == 2);
  const auto source = spy[1][0].value<RunSource>();
  CHECK(source.text == bench.text().toStdString());
  CHECK_FALSE(source.store);
  const auto run = openRun(source, {}, {});
  REQUIRE(run.has_value());
  CHECK((*run)->reports.size() == 2);
  CHECK((*run)->scenarioText == bench.text().toStdString());
}

TEST_CASE("Saving writes the whole text; a folder that cannot be written gives a message") {
  Bench bench;
  bench.type("batch.micro_batch", "2");
  REQUIRE(bench.page.saveTo(QString::fromStdString(bench.file())));
  CHECK(test::readFile(bench.file()) == bench.text().toStdString());
  CHECK_FALSE(bench.page.saveTo("/proc/nothing/here.yaml"));
  CHECK_FALSE(bench.page.problems().isHidden());
}

TEST_CASE("Files that cannot be read, and text that is no YAML, are messages") {
  Bench bench;
  bench.page.load("/nowhere/missing.yaml");
  CHECK(bench.page.problems().count() == 1);
  CHECK(bench.text() == kText);
  for (const char* text : {"{", "\t- x", "vsim: 1\n  bad: [", "[]", "x", "\n\n"}) {
    bench.page.editor().setPlainText(text);
    bench.settle();
    CHECK_FALSE(bench.page.runButton().isEnabled());
  }
}

TEST_CASE("Every command runs, with and without a scenario") {
  Session session;
  ScenarioPage empty(session, nullptr);
  for (ScenarioPage* page : {&empty}) {
    for (const Command& command : page->commands()) command.run();
    for (auto* dialog : page->findChildren<QDialog*>()) dialog->close();
  }
  CHECK(empty.exportTable().rows.empty());
  Bench bench;
  for (const Command& command : bench.page.commands()) command.run();
  for (auto* dialog : bench.page.findChildren<QDialog*>()) dialog->close();
  QImage picture(600, 400, QImage::Format_RGB32);
  QPainter painter(&picture);
  bench.page.drawExport(painter, picture.size());
}

TEST_CASE("Changes are not lost unasked when another scenario is loaded") {
  Bench bench;
  const std::string other = bench.folder / "other.yaml";
  test::writeFile(other, QString(kText).replace("small", "other").toStdString());
  const auto loadOther = [&] {
    bench.page.load(QString::fromStdString(other));
    bench.settle();
    return bench.page.findChild<QMessageBox*>();
  };
  const auto press = [&](QMessageBox* box, QMessageBox::StandardButton button) {
    REQUIRE(box != nullptr);
    box->button(button)->click();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    bench.settle();
  };
  CHECK(bench.page.unsaved().isEmpty());
  CHECK(loadOther() == nullptr);
  CHECK(bench.text().contains("name: other"));
  bench.type("batch.micro_batch", "4");
  CHECK_FALSE(bench.page.unsaved().isEmpty());
  const QString edited = bench.text();
  bench.page.load(QString::fromStdString(bench.file()));
  press(bench.page.findChild<QMessageBox*>(), QMessageBox::Cancel);
  CHECK(bench.text() == edited);
  bench.page.load(QString::fromStdString(bench.file()));
  press(bench.page.findChild<QMessageBox*>(), QMessageBox::Save);
  CHECK(bench.text() == kText);
  CHECK(test::readFile(other) == edited.toStdString());
  bench.type("batch.micro_batch", "8");
  press(loadOther(), QMessageBox::Discard);
  CHECK(bench.text() == edited);
  CHECK(test::readFile(bench.file()) == kText);
}

}  // namespace
}  // namespace vsim::gui
