#pragma once

#include <QByteArray>

namespace vsim::gui {

/// Family of the font below.
inline constexpr const char* kBoxFamily = "Vsim Boxes";

/// A TrueType font in which every character is the same box and blanks are empty: pictures made with it
/// depend on what is where, and not on the fonts of a machine.
[[nodiscard]] QByteArray boxFont();

}  // namespace vsim::gui
