#pragma once

#include <QByteArray>
#include <QString>

#include "gui/session/session.h"

namespace vsim::gui {

/// What the window remembers between two starts, in the user's configuration folder
/// (~/.config/vsim/vsim-gui.ini). Plain value.
struct Settings {
  QByteArray geometry, docks;
  Theme theme = Theme::light;
  int fontScale = 100;  // percent
  std::string storePath;
  bool operator==(const Settings&) const = default;
};

/// A file that is missing, broken or holds nonsense gives the defaults for what it lacks.
[[nodiscard]] Settings loadSettings();
/// Whole or not at all; silent where it cannot be written.
void saveSettings(const Settings& settings);

}  // namespace vsim::gui
