#pragma once

#include <QByteArray>
#include <QMap>
#include <QString>
#include <QVariantMap>
#include <optional>

#include "gui/session/session.h"

namespace vsim::gui {

/// What the window remembers between two starts, in the user's configuration folder
/// (~/.config/vsim/vsim-gui.ini). Plain value.
struct Settings {
  QByteArray geometry, docks;
  std::optional<Theme> theme;  // none chosen: as the desktop's
  int fontScale = 100;         // percent
  std::string storePath;
  QString url;                       // what was shown last; empty: no stored run
  QString page;                      // key of the page in front
  QMap<QString, QVariantMap> looks;  // of the pages: View::look()
  bool operator==(const Settings&) const = default;
};

/// A file that is missing, broken or holds nonsense gives the defaults for what it lacks.
[[nodiscard]] Settings loadSettings();
/// Whole or not at all; silent where it cannot be written.
void saveSettings(const Settings& settings);

}  // namespace vsim::gui
