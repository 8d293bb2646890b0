#pragma once

#include <vector>

#include "gpu/calibrate/measurement.h"

namespace vsim::gpu {

/// The kernels of a program's step in their order on one stream, again and again, without its collectives.
/// Memory that the step takes is there all the time. nullptr when the program has no such kernels.
[[nodiscard]] ProgramPointer sequenceProgram(const core::StepProgram& program, int repetitions);

/// All kernels of a program at once, for machines whose ranks share processors. Every kernel finds caches as
/// the one before it in the step has left them, and all ranks are at work all the time; so the mean time from
/// the end of one kernel to the end of the next one is what this one costs.
class SequenceMeasurement : public Measurement {
 public:
  explicit SequenceMeasurement(ProgramPointer program);

  [[nodiscard]] ProgramPointer program(const Counts& counts) const override;
  [[nodiscard]] Counts first() const override { return {2}; }
  [[nodiscard]] Counts next(double seconds) const override;
  void take(const core::ExecutionLog& log) override;
  [[nodiscard]] bool settled(double targetError) const override;
  [[nodiscard]] bool hasResult() const override { return executions_ > 1 && !totals_.empty(); }
  /// Of one rank's whole sequence.
  [[nodiscard]] Estimate result() const override { return estimate(totals_); }
  void store(core::Profile& profile, core::Origin origin) const override;
  [[nodiscard]] double secondsEach() const override { return each_; }

 private:
  struct Sum {
    double seconds = 0;
    int launches = 0;
  };
  ProgramPointer program_;
  std::vector<core::Index> launches_;  // operations, in order
  std::vector<Sum> sums_;              // [operation of the program]
  std::vector<double> totals_;         // seconds of a repetition of one rank
  double each_ = 0;
  int executions_ = 0;
};

}  // namespace vsim::gpu
