#include "gui/window/settings.h"

#include <QSettings>
#include <algorithm>

#include "gui/window/theme.h"

namespace vsim::gui {
namespace {

const QStringList kThemes{"light", "dark", "contrast"};

}  // namespace

Settings loadSettings() {
  QSettings in(QSettings::IniFormat, QSettings::UserScope, "vsim", "vsim-gui");
  Settings settings;
  if (in.status() != QSettings::NoError) return settings;
  settings.geometry = in.value("geometry").toByteArray();
  settings.docks = in.value("docks").toByteArray();
  const auto theme = kThemes.indexOf(in.value("theme").toString());
  if (theme >= 0) settings.theme = static_cast<Theme>(theme);
  bool number = false;
  const int scale = in.value("font-scale").toInt(&number);
  if (number) settings.fontScale = std::clamp(scale, kMinFontScale, kMaxFontScale);
  settings.storePath = in.value("store").toString().toStdString();
  settings.url = in.value("url").toString();
  settings.page = in.value("page").toString();
  in.beginGroup("pages");
  for (const QString& page : in.childKeys()) settings.looks.insert(page, in.value(page).toMap());
  in.endGroup();
  return settings;
}

void saveSettings(const Settings& settings) {
  QSettings out(QSettings::IniFormat, QSettings::UserScope, "vsim", "vsim-gui");
  out.setValue("geometry", settings.geometry);
  out.setValue("docks", settings.docks);
  if (settings.theme)
    out.setValue("theme", kThemes[static_cast<int>(*settings.theme)]);
  else
    out.remove("theme");
  out.setValue("font-scale", settings.fontScale);
  out.setValue("store", QString::fromStdString(settings.storePath));
  out.setValue("url", settings.url);
  out.setValue("page", settings.page);
  out.remove("pages");
  out.beginGroup("pages");
  for (auto look = settings.looks.begin(); look != settings.looks.end(); ++look)
    out.setValue(look.key(), look.value());
  out.endGroup();
  out.sync();
}

}  // namespace vsim::gui
