#pragma once

#include <QColor>

#include "core/program/step_program.h"
#include "gui/model/timeline_data.h"
#include "gui/session/session.h"

namespace vsim::gui {

/// Colours of one theme. Categories: the eight colours that people with any colour vision tell apart (Okabe
/// and Ito, "Color Universal Design", 2008), black and white exchanged by theme.
struct Palette {
  QColor background, panel, text, mutedText, grid, accent;
  QColor exposed;   // communication that nothing hides, failed checks
  QColor critical;  // critical path
  [[nodiscard]] QColor slice(SliceClass kind) const;
  [[nodiscard]] QColor memory(core::MemoryCategory category) const;
  /// For things without a category of their own (tensors, series): the n-th colour.
  [[nodiscard]] QColor series(std::size_t n) const;

  bool dark = false;
};

[[nodiscard]] const Palette& paletteOf(Theme theme);

/// Contrast of two colours, 1 to 21 (WCAG 2.1: relative luminance with 5 % flare).
[[nodiscard]] double contrast(const QColor& a, const QColor& b);
/// Black or white, whichever can be read better on `background`.
[[nodiscard]] QColor inkOn(const QColor& background);

}  // namespace vsim::gui
