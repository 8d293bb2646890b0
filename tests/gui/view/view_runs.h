#pragma once

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QImage>
#include <QPainter>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>

#include "gui/model/open_run.h"
#include "gui/view/view.h"
#include "tests/folders.h"

namespace vsim::gui {

/// A bundled scenario, simulated.
inline std::shared_ptr<const OpenedRun> simulated(const std::string& scenario) {
  const auto run = openRun({.kind = RunSource::Kind::scenario,
                            .path = std::string(VSIM_SOURCE_DIR) + "/scenarios/" + scenario + ".yaml"},
                           {}, {});
  REQUIRE(run);
  return *run;
}

/// Runs events until `ready`; at most 20 s.
inline bool waitFor(const std::function<bool()>& ready) {
  QElapsedTimer clock;
  clock.start();
  while (!ready() && clock.elapsed() < 20000) QApplication::processEvents(QEventLoop::AllEvents, 10);
  QApplication::processEvents();
  return ready();
}

/// The view as it would be exported.
inline QImage exported(View& view, QSize size) {
  QImage image(size, QImage::Format_RGB32);
  image.fill(Qt::magenta);
  QPainter painter(&image);
  view.drawExport(painter, size);
  return image;
}

/// Keeps the picture in the folder that VSIM_TEST_PICTURES names, where it is set.
inline void keep(const QImage& image, const QString& name) {
  const QString folder = qEnvironmentVariable("VSIM_TEST_PICTURES");
  if (!folder.isEmpty()) image.save(QDir(folder).filePath(name + ".png"));
}

/// Different colours in the picture, up to 1,000.
inline std::size_t coloursOf(const QImage& image) {
  std::vector<QRgb> seen;
  for (int y = 0; y < image.height(); y += 3)
    for (int x = 0; x < image.width() && seen.size() < 1000; x += 3)
      if (const QRgb pixel = image.pixel(x, y); std::find(seen.begin(), seen.end(), pixel) == seen.end())
        seen.push_back(pixel);
  return seen.size();
}

}  // namespace vsim::gui
