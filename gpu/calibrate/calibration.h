#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/profile/profile.h"
#include "gpu/machine.h"

namespace vsim::gpu {

struct CalibrationOptions {
  double budgetSeconds = 600;  // of wall clock, for everything
  /// Programs whose own kernels and collectives are measured first, with their true shapes. None: grids
  /// alone.
  std::vector<std::shared_ptr<const core::StepProgram>> programs{};
  bool grids = true;  // sweeps of collectives over sizes and groups, of products and attention over shapes
  /// Part of the grids where ranks have hardware of their own: programs whose kernels that move data stand
  /// for those of other programs.
  std::vector<std::shared_ptr<const core::StepProgram>> groupKernels{};
  core::Bytes smallest = core::Bytes{1} << 10U,
              largest = core::Bytes{8} << 30U;  // of collectives; memory permitting
  double targetError =
      0.02;  // half width of the 95 % interval of a median, as a fraction: then no repetitions more
  /// What is being measured, how much of the schedule is done (0 to 1), and the seconds that are left.
  std::function<void(const std::string& what, double fraction, double remainingSeconds)> progress{};
  std::function<double()> clock{};  // seconds since any moment; none: the system's steady clock
  std::string started{};            // goes into the profile, "2026-11-30T12:00:00Z"
  double scale = 1;  // share of every kernel's work that the machine does; goes into the profile
};

struct Calibration {
  core::Profile profile;
  std::vector<std::string> notes;  // what was not measured and why, levels that are missing, throttling
  int measured = 0, planned = 0;   // measurements
  double seconds = 0;
};

/// Measures `machine`: collectives over sizes, groups (in node, across nodes, strided), alignment, alone and
/// beside products; kernels; copies; launch and allocation cost. Everything is measured by running
/// StepPrograms on the machine, so that any Machine can be calibrated. Collective: all processes call it; the
/// profile is the leader's, empty elsewhere. Errors: those of the machine.
[[nodiscard]] core::Result<Calibration> calibrate(Machine& machine, const CalibrationOptions& options);

}  // namespace vsim::gpu
