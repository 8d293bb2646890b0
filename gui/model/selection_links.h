#pragma once

#include <vector>

#include "core/program/step_program.h"
#include "gui/model/selection.h"

namespace vsim::gui {

/// What a selection means to the pages that show other things than the one that was picked, in the terms of
/// the program. Plain value; lists are sorted.
struct SelectionLinks {
  core::Index unit = core::kNone;
  std::int64_t tensor = -1;              // of the unit, where the selection is about a single one
  std::vector<core::Index> buffers;      // what a slice reads and writes, else all of the unit
  std::vector<core::Index> collectives;  // instructions: the slice itself, else those of the unit
  [[nodiscard]] bool hasBuffer(core::Index buffer) const;
};

/// Nothing for a selection that the program does not have. Linear in the program.
[[nodiscard]] SelectionLinks linksOf(const core::StepProgram& program, const Selection& selection);

}  // namespace vsim::gui
