#pragma once

#include <QVariant>

#include "gui/model/compare.h"
#include "gui/paint/palette.h"

namespace vsim::gui {

/// Rows of the comparison for the eye: the numbers sort, what is read comes from differenceCell. Columns:
/// what, name, A, then value, difference and change of every other side.
[[nodiscard]] DataTable differenceTable(const Comparison& comparison);
/// Text with unit, sign and arrow, and its colour; an invalid value leaves the cell as it is.
[[nodiscard]] QVariant differenceCell(const Comparison& comparison, std::size_t row, int column, int role,
                                      const Palette& colours);

}  // namespace vsim::gui
