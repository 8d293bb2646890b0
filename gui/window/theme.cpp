#include "gui/window/theme.h"

#include <QFont>
#include <QPalette>
#include <QStyle>
#include <QStyleFactory>
#include <algorithm>

#include "gui/paint/palette.h"

namespace vsim::gui {

void applyTheme(Theme theme) {
  const Palette& colours = paletteOf(theme);
  QPalette palette;
  palette.setColor(QPalette::Window, colours.panel);
  palette.setColor(QPalette::WindowText, colours.text);
  palette.setColor(QPalette::Base, colours.background);
  palette.setColor(QPalette::AlternateBase, colours.panel);
  palette.setColor(QPalette::Text, colours.text);
  palette.setColor(QPalette::PlaceholderText, colours.mutedText);
  palette.setColor(QPalette::Button, colours.panel);
  palette.setColor(QPalette::ButtonText, colours.text);
  palette.setColor(QPalette::ToolTipBase, colours.panel);
  palette.setColor(QPalette::ToolTipText, colours.text);
  palette.setColor(QPalette::Highlight, colours.accent);
  palette.setColor(QPalette::HighlightedText, colours.dark ? QColor(Qt::black) : QColor(Qt::white));
  palette.setColor(QPalette::Link, colours.accent);
  palette.setColor(QPalette::LinkVisited, colours.accent);
  palette.setColor(QPalette::Mid, colours.grid);
  palette.setColor(QPalette::Dark, colours.dark ? colours.grid : colours.mutedText);
  palette.setColor(QPalette::Light, colours.dark ? colours.grid : QColor(Qt::white));
  palette.setColor(QPalette::Midlight, colours.grid);
  palette.setColor(QPalette::Shadow, Qt::black);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, colours.mutedText);
  if (QApplication::style()->name() != "fusion") QApplication::setStyle(QStyleFactory::create("Fusion"));
  QApplication::setPalette(palette);
}

void applyFontScale(int percent) {
  static const double base = QApplication::font().pointSizeF();
  QFont font = QApplication::font();
  font.setPointSizeF(base * std::clamp(percent, kMinFontScale, kMaxFontScale) / 100);
  QApplication::setFont(font);
}

}  // namespace vsim::gui
