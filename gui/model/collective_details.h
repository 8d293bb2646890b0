#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/program/step_program.h"
#include "sim/network/collective_model.h"

namespace vsim::gui {

/// What the model of the network says of a collective, beside what it took: name and value of every row.
/// `seconds`: how long it ran. The model knows the hardware alone: a profile, or the run itself, may differ.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> modelRows(const sim::CollectiveModel& model,
                                                                         const core::StepProgram& program,
                                                                         const core::Collective& collective,
                                                                         double seconds);

}  // namespace vsim::gui
