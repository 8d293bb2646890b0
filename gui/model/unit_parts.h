#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/program/execution_log.h"

namespace vsim::gui {

/// Units that are alike under one name: "L1" and "L37" are "L*", "R" stays.
[[nodiscard]] std::string unitKind(const std::string& unit);

/// Kind of unit and phase, "L* forward", with the seconds of the step that belong to them.
using UnitParts = std::map<std::string, double>;

/// Gives every instant of a step to the unit and phase of the kernel on the default stream, else of the
/// collective that runs, else of the copy; instants in which nothing runs go to "waiting". The parts sum to
/// the step. `ranks` must have completed step number `step`.
[[nodiscard]] UnitParts unitParts(const core::StepProgram& program, const core::RankLog& ranks,
                                  std::size_t step);

}  // namespace vsim::gui
