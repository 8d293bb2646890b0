// Starts the window on a real window system, uses it as a new user would and leaves a picture.
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <QScreen>
#include <QTest>
#include <cstdio>

#include "gui/window/main_window.h"

namespace {

using namespace vsim;

int problems = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  ++problems;
}

template <class Condition>
bool waitFor(Condition condition, int milliseconds = 60'000) {
  return QTest::qWaitFor(condition, milliseconds);
}

void runExample(gui::MainWindow& window) {
  window.commands().find("file.example")->action->trigger();
  expect(waitFor([&] { return window.session().current() != nullptr; }),
         "the example is simulated and opened");
  if (!window.session().current()) return;
  expect(window.session().current()->id == 1, "the example is stored as the first run");
  expect(window.windowTitle().startsWith("run 1"), "the title names the run");
}

void openMenus(gui::MainWindow& window) {
  for (QAction* action : window.menuBar()->actions()) {
    QMenu* menu = action->menu();
    expect(menu != nullptr && !menu->isEmpty(), "each menu has entries");
    if (menu == nullptr) continue;
    menu->popup(window.mapToGlobal(QPoint(40, 40)));
    expect(QTest::qWaitForWindowExposed(menu), "a menu appears");
    menu->close();
  }
}

void moveDocks(gui::MainWindow& window) {
  for (auto* dock : window.findChildren<QDockWidget*>()) {
    dock->setFloating(true);
    expect(waitFor([&] { return dock->isWindow() && dock->isVisible(); }), "a panel floats");
    dock->setFloating(false);
    dock->hide();
    dock->show();
    expect(waitFor([&] { return dock->isVisible(); }), "a panel comes back");
  }
}

void showAllPages(gui::MainWindow& window) {
  for (gui::View* view : window.views()) {
    window.session().setView(view->key());
    expect(waitFor([&] { return view->isVisible() && view->settled(); }), qPrintable("shows " + view->key()));
  }
}

void copyLink(gui::MainWindow& window) {
  window.activateWindow();
  QTest::qWait(200);
  window.commands().find("go.copy-link")->action->trigger();
  expect(waitFor([] { return QApplication::clipboard()->text().startsWith("vsim://run/1?"); }, 5000),
         "the link is on the clipboard");
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  QApplication application(count, words);
  gui::Settings settings;
  settings.storePath = qEnvironmentVariable("XDG_DATA_HOME").toStdString() + "/vsim/runs.sqlite";
  gui::MainWindow window(settings);
  window.show();
  expect(QTest::qWaitForWindowExposed(&window, 30'000), "the window appears");
  runExample(window);
  openMenus(window);
  moveDocks(window);
  showAllPages(window);
  copyLink(window);
  const QPixmap picture = window.screen()->grabWindow(window.winId());
  expect(!picture.isNull() && picture.save(QString::fromLocal8Bit(words[1])), "a picture is taken");
  const QImage pixels = picture.toImage();
  bool uniform = true;
  for (int y = 0; y < pixels.height() && uniform; ++y)
    for (int x = 0; x < pixels.width() && uniform; ++x) uniform = pixels.pixel(x, y) == pixels.pixel(0, 0);
  expect(!uniform, "the picture shows something");
  window.close();
  return problems == 0 ? 0 : 1;
}
