#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/real_run.h"
#include "gpu/calibrate/calibration.h"

namespace vsim::app {

struct CalibrateOptions {
  double budgetSeconds = 600;
  std::string started{};  // goes into the profile, "2026-11-30T12:00:00Z"
};

/// Measures the machine: the kernels and collectives of all systems of `scenario` where there is one, and
/// grids over sizes, groups and shapes. Collective; the profile is the leader's, empty on the others. Errors:
/// a scenario whose GPUs are not the machine's ranks, those of the machine.
Outcome<gpu::Calibration> calibrateMachine(gpu::Machine& machine,
                                           const std::optional<core::Scenario>& scenario,
                                           const CalibrateOptions& options, const RealProgress& progress);

/// "vsim_profile_nvidia_h200_8.yaml".
std::string profileFileName(const core::Profile& profile);

/// What was measured, as tables: collectives in nccl-tests' columns, products, memory-bound kernels, the
/// host's costs, levels that are missing; then the notes. Ends with a newline.
std::string calibrationText(const gpu::Calibration& calibration);

}  // namespace vsim::app
