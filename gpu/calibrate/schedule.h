#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/calibrate/calibration.h"
#include "gpu/calibrate/job_layout.h"
#include "gpu/calibrate/measurement.h"

namespace vsim::gpu {

/// A measurement in the order of its worth.
struct Planned {
  std::unique_ptr<Measurement> measurement;
  double weight = 1;     // of the budget that is left when its turn comes
  bool optional = true;  // left out when it would take much more than its share
  int stage = 0;
  /// Of a program's work: how often a step launches it. Such measurements are first all made once, then again
  /// in the order of the time that they take of the step. 0: others.
  int launches = 0;
  std::optional<core::Locality> locality{};  // the boundary that its collective crosses
};

struct Schedule {
  std::vector<Planned> measurements;
  std::vector<std::string> notes;  // what cannot be measured on this machine, and why
};

/// Everything that could be measured, the most valuable first: host costs, a collective across every boundary
/// that the job has, the work of the programs with its interference, then grids from coarse to fine. The same
/// for the same facts and options, so that every process of a job has the same one.
[[nodiscard]] Schedule makeSchedule(const MachineFacts& facts, const CalibrationOptions& options);

/// Whether the machine's ranks share processors.
[[nodiscard]] Reading readingOf(const MachineFacts& facts);

}  // namespace vsim::gpu
