#pragma once

#include <QStringList>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "gui/session/session.h"

namespace vsim::gui {

/// What vsim-gui was called with. Plain value.
struct Arguments {
  QString word;                // RUN, SCENARIO, TRACE or address; empty: none
  std::string store;           // empty: not named
  std::optional<Theme> theme;  // not named: as the last time
  bool help = false, version = false;
  bool screenshot = false;  // the arguments belong to takeScreenshot
  QStringList all;
};

/// Errors: an unknown option, an option without its value, two words to open.
[[nodiscard]] core::Result<Arguments> readArguments(const QStringList& words);
[[nodiscard]] const char* helpText();

/// What is known to be wrong before a window opens: a word that means nothing, a run that is not there, a
/// file that is no run store.
[[nodiscard]] std::optional<core::Error> problemOf(const Arguments& arguments);

}  // namespace vsim::gui
