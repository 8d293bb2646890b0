#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "core/report/step_parts.h"
#include "gui/model/compared_side.h"
#include "gui/model/unit_parts.h"

namespace vsim::gui {

/// The step of one side taken apart; seconds. All of `kinds`, `phases`, `parts` and `units` sum to `seconds`,
/// where they are not empty.
struct SideParts {
  double seconds = 0;
  std::map<std::string, double> kinds, phases, parts, collectives;
  UnitParts units;
  std::string note;  // why something is missing
};

/// Without a log only what the report says is known.
[[nodiscard]] SideParts sidePartsOf(const ComparedSide& side);

}  // namespace vsim::gui
