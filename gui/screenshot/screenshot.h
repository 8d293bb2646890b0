#pragma once

#include <QSize>
#include <QStringList>
#include <optional>

#include "core/base/error.h"
#include "gui/session/session.h"

namespace vsim::gui {

/// What `vsim-gui --screenshot VIEW ...` asks for. Plain value.
struct ScreenshotOptions {
  QString view;       // key of a page
  QStringList runs;   // the first is current, the others are compared with it
  QString baseline;   // empty: none
  std::string store;  // empty: the user's
  QString output, csv;
  QString url;           // view, zoom, limit and selection
  QStringList commands;  // ids, done before the picture is drawn
  QSize size{1280, 800};
  int scale = 1;
  int report = 0;
  Theme theme = Theme::light;
  bool boxes = false;   // text as boxes
  bool window = false;  // the whole window around the page
  bool help = false;
};

/// Errors: unknown and contradicting options, values that are none, a view that does not exist.
[[nodiscard]] core::Result<ScreenshotOptions> readScreenshotOptions(const QStringList& words);

/// Draws one page to a file: `words` as vsim-gui got them. Needs a QApplication, on any platform. Messages go
/// to the standard error. Answers the exit code: 0 done, 1 failed, 2 wrong input.
[[nodiscard]] int takeScreenshot(const QStringList& words);

}  // namespace vsim::gui
