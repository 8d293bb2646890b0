#pragma once

#include <vector>

#include "gpu/calibrate/measurement_programs.h"

namespace vsim::gpu {

/// What programs launch, equal things once: what a profile needs so that every cost of these programs is
/// measured.
struct ProgramWork {
  struct DataKernel {
    ProgramPointer program;
    core::Index kernel = core::kNone;
    int launches = 0;
  };
  struct Compute {
    core::Operation operation;
    int launches = 0;  // in one step of all programs
  };
  struct Communication {
    CollectiveSpec collective;
    int launches = 0;
    bool besideCompute = false;  // on another stream than the first: compute may run at the same time
  };
  std::vector<Compute> operations;
  std::vector<DataKernel> dataKernels;
  std::vector<Communication> collectives;  // of groups with two ranks at least
};

[[nodiscard]] ProgramWork workOf(const std::vector<ProgramPointer>& programs);

}  // namespace vsim::gpu
