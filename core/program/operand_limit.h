#pragma once

#include <cstddef>

#include "core/program/step_program.h"

namespace vsim::core {

/// One past the largest operand that an instruction of this kind may have in `program`: the size of the table
/// that its operand indexes. Hooks have no operand: anything is below their limit, kNone included.
[[nodiscard]] std::size_t operandLimit(InstructionKind kind, const StepProgram& program);

}  // namespace vsim::core
