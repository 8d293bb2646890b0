#define CATCH_CONFIG_RUNNER
#include <QApplication>
#include <QFont>
#include <QStandardPaths>
#include <QStyleFactory>
#include <QTemporaryDir>
#include <catch2/catch.hpp>

/// Tests of widgets: one application for all of them, without a display, and with settings and data of its
/// own.
int main(int count, char** arguments) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  const QTemporaryDir home;
  for (const char* name : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"})
    qputenv(name, home.path().toLocal8Bit());
  QApplication application(count, arguments);
  QApplication::setStyle(QStyleFactory::create("Fusion"));
  return Catch::Session().run(count, arguments);
}
