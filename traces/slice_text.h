#pragma once

#include <string>
#include <vector>

#include "core/program/execution_log.h"

namespace vsim::traces {

/// What an instruction of the step is called in traces and the GUI: "L1 q_proj", "ALL-GATHER L1".
[[nodiscard]] std::string sliceName(const core::StepProgram& program, core::Index instruction);

/// Bytes a kernel moves through device memory, or size of a collective as nccl-tests counts it.
[[nodiscard]] core::Bytes sliceBytes(const core::StepProgram& program, core::Index instruction);

/// Name of the unit an instruction works for; "" when it belongs to none.
[[nodiscard]] std::string sliceUnit(const core::StepProgram& program, core::Index instruction);

/// For every instruction of the step the unit it works for, or the block of the model (a layer, the
/// embedding, the loss) that computes when it is issued, as the program's hooks say; "" where it is neither.
[[nodiscard]] std::vector<std::string> sliceLayers(const core::StepProgram& program);

/// Whether every index inside the log points at something: streams, units, buffers, kernels, instructions.
/// Readers of foreign or stored logs check this once, so that users of a log need not.
[[nodiscard]] bool isConsistent(const core::ExecutionLog& log);

}  // namespace vsim::traces
