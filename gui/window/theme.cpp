#include "gui/window/theme.h"

#include <QFont>
#include <QPainter>
#include <QPalette>
#include <QProxyStyle>
#include <QStyleOption>
#include <algorithm>

#include "gui/paint/palette.h"

namespace vsim::gui {

namespace {

/// Fusion draws outlines darker than the window, which nobody sees where the window is dark.
class OutlinedStyle : public QProxyStyle {
 public:
  OutlinedStyle() : QProxyStyle("Fusion") {}

  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    const bool outlined = element == PE_IndicatorCheckBox || element == PE_FrameLineEdit;
    if (!outlined || option->palette.color(QPalette::Window).lightnessF() > 0.5 ||
        option->state.testFlag(State_HasFocus))
      return;
    painter->setPen(option->palette.color(QPalette::Dark));
    painter->setBrush(Qt::NoBrush);
    painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
  }
};

}  // namespace
Theme desktopTheme() {
  // Qt 6.4 does not say; applyTheme() replaces the colours.
  static const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
  return dark ? Theme::dark : Theme::light;
}

void applyTheme(Theme theme) {
  static_cast<void>(desktopTheme());
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
  palette.setColor(QPalette::Dark, colours.dark ? QColor(0x70, 0x76, 0x80) : colours.mutedText);
  palette.setColor(QPalette::Light, colours.dark ? colours.grid : QColor(Qt::white));
  palette.setColor(QPalette::Midlight, colours.grid);
  palette.setColor(QPalette::Shadow, Qt::black);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, colours.mutedText);
  if (dynamic_cast<OutlinedStyle*>(QApplication::style()) == nullptr)
    QApplication::setStyle(new OutlinedStyle);  // the application owns it
  QApplication::setPalette(palette);
}

void applyFontScale(int percent) {
  static const double base = QApplication::font().pointSizeF();
  QFont font = QApplication::font();
  font.setPointSizeF(base * std::clamp(percent, kMinFontScale, kMaxFontScale) / 100);
  QApplication::setFont(font);
}

}  // namespace vsim::gui
