#include <QApplication>
#include <QFileInfo>
#include <cstdio>

#include "gui/window/arguments.h"
#include "gui/window/main_window.h"
#include "gui/window/settings.h"
#include "traces/run_store.h"

#ifdef VSIM_SCREENSHOT
#include "gui/screenshot/screenshot.h"
#endif

namespace {

using namespace vsim;

constexpr int kFailed = 1, kWrongInput = 2;

int complain(int code, const std::string& text) {
  std::fprintf(stderr, "vsim-gui: %s\n", text.c_str());
  return code;
}

/// Qt ends the program where it finds no display; a message is better.
bool hasDisplay() {
  return !qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM") || !qEnvironmentVariableIsEmpty("DISPLAY") ||
         !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
}

/// Qt warns of what a machine without a display lacks; what is wrong with a picture is told by the exit code.
[[maybe_unused]] void tellErrorsOnly(QtMsgType type, const QMessageLogContext&, const QString& text) {
  if (type == QtCriticalMsg || type == QtFatalMsg) std::fprintf(stderr, "vsim-gui: %s\n", qPrintable(text));
}

int screenshot(int count, char** words, const gui::Arguments& arguments) {
#ifdef VSIM_SCREENSHOT
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  qInstallMessageHandler(tellErrorsOnly);
  const QApplication application(count, words);
  return gui::takeScreenshot(arguments.all);
#else
  static_cast<void>(count), static_cast<void>(words), static_cast<void>(arguments);
  return complain(kFailed, "pictures are not part of this build");
#endif
}

int showWindow(int count, char** words, const gui::Arguments& arguments) {
  if (!hasDisplay())
    return complain(
        kFailed,
        "there is no display (DISPLAY and WAYLAND_DISPLAY are not set); `vsim-gui --screenshot VIEW "
        "--run RUN -o FILE` draws without one");
  const QApplication application(count, words);
  QApplication::setApplicationName("vsim");
  QApplication::setApplicationVersion(VSIM_VERSION);
  const gui::Settings last = gui::loadSettings();
  gui::Settings settings = last;
  if (arguments.theme) settings.theme = *arguments.theme;
  settings.storePath = arguments.store;
  gui::MainWindow window(settings);
  window.show();
  if (arguments.word.isEmpty())
    window.reopen(last);
  else
    window.open(arguments.word);
  return QApplication::exec();
}

}  // namespace

int main(int count, char** words) {
  QStringList list;
  for (int i = 1; i < count; ++i) list.push_back(QString::fromLocal8Bit(words[i]));
  auto arguments = gui::readArguments(list);
  if (!arguments) return complain(kWrongInput, arguments.error().text());
  if (arguments->help) {
    std::fputs(gui::helpText(), stdout);
    return 0;
  }
  if (arguments->version) {
    std::puts("vsim-gui " VSIM_VERSION);
    return 0;
  }
  if (arguments->screenshot) return screenshot(count, words, *arguments);
  if (arguments->store.empty()) {
    const auto path = traces::defaultStorePath();
    const std::string remembered = gui::loadSettings().storePath;
    const bool there = !remembered.empty() && QFileInfo::exists(QString::fromStdString(remembered));
    if (!there && !path) return complain(kWrongInput, path.error().text());
    arguments->store = there ? remembered : *path;
  }
  if (const auto problem = gui::problemOf(*arguments)) return complain(kWrongInput, problem->text());
  return showWindow(count, words, *arguments);
}
