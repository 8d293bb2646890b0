#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/profile/cost.h"
#include "core/program/step_program.h"

namespace vsim::sim {

/// What the engine needs of a StepProgram and its costs, flat: one small record per kernel, collective and
/// buffer.
struct ProgramTables {
  struct Work {
    core::Picoseconds time = 0;      // of all launches together
    core::Picoseconds hostTime = 0;  // of all launches together
    core::Picoseconds tail = 0;      // from the first launch's issue to the earliest end of the last one
    double slowdown = 0, stretch = 0;
    core::Index group = core::kNone;
    core::Provenance provenance = core::Provenance::modelled;
    bool free = false;  // moves data in real executions only: takes no time here and is not logged
  };
  struct Memory {
    core::Bytes bytes = 0;
    core::StreamId stream = 0;
    std::uint8_t category = 0;
  };
  std::vector<Work> kernels, collectives;
  std::vector<Memory> buffers;
  std::size_t launches = 0;  // kernels and collectives in one step
  core::StreamId computeStream = 0;

  /// Refuses programs and costs that don't fit each other: indices out of range, negative or not finite
  /// costs, sizes and times that overflow.
  static core::Result<ProgramTables> build(const core::StepProgram& program, const core::CostTable& costs,
                                           int steps);
};

}  // namespace vsim::sim
