#pragma once

#include <QApplication>

#include "gui/session/session.h"

namespace vsim::gui {

/// The whole application in the colours of a theme, and its font at `percent` of the size it started with.
void applyTheme(Theme theme);
void applyFontScale(int percent);
/// Light or dark as the desktop's own colours are: as they were before any theme was applied.
[[nodiscard]] Theme desktopTheme();
inline constexpr int kMinFontScale = 80, kMaxFontScale = 200;

}  // namespace vsim::gui
