#include "core/program/operand_limit.h"

namespace vsim::core {

std::size_t operandLimit(InstructionKind kind, const StepProgram& program) {
  switch (kind) {
    case InstructionKind::allocate:
    case InstructionKind::release:
    case InstructionKind::recordStream:
      return program.buffers.size();
    case InstructionKind::kernel:
      return program.kernels.size();
    case InstructionKind::collective:
      return program.collectives.size();
    case InstructionKind::recordEvent:
    case InstructionKind::waitEvent:
    case InstructionKind::hostWait:
      return program.events;
    case InstructionKind::waitStream:
      return program.streams.size();
    case InstructionKind::hook:
      break;
  }
  return std::size_t{kNone} + 1;
}

}  // namespace vsim::core
