#pragma once

#include <span>
#include <vector>

#include "core/program/step_program.h"

namespace vsim::gpu {

/// What an observer sees of one instruction of one rank, as it was when the instruction had run in its
/// stream.
struct Observation {
  int rank = 0, step = 0;
  core::Index instruction = 0;  // into StepProgram::step
  /// Contents of buffers that were live when the host issued the instruction, [buffer]; empty for others.
  /// Only what the program keeps in order with this instruction may be read.
  std::vector<std::span<const float>> data;
};

}  // namespace vsim::gpu
