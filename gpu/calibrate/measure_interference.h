#pragma once

#include "gpu/calibrate/measurement.h"

namespace vsim::gpu {

/// What products and collectives on another stream do to each other. Every execution runs each alone and both
/// together, so that a machine whose speed changes does not look like interference.
class InterferenceMeasurement : public Measurement {
 public:
  InterferenceMeasurement(const core::Operation& product, const CollectiveSpec& collective, int ranksPerNode);

  [[nodiscard]] ProgramPointer program(const Counts& counts) const override;
  [[nodiscard]] Counts first() const override;
  [[nodiscard]] Counts next(double seconds) const override;
  void take(const core::ExecutionLog& log) override;
  [[nodiscard]] bool settled(double targetError) const override;
  [[nodiscard]] bool hasResult() const override { return !slowdowns_.empty(); }
  [[nodiscard]] Estimate result() const override { return estimate(slowdowns_); }
  void store(core::Profile& profile, core::Origin origin) const override;
  [[nodiscard]] double secondsEach() const override { return product_.alone + collective_.alone; }

 private:
  struct Learned {
    double alone = 0, together = 0;  // seconds of one repetition
  };
  core::Operation operation_;
  CollectiveSpec spec_;
  int ranksPerNode_;
  std::vector<double> slowdowns_, stretches_;  // factors: 1 is nothing
  Learned product_, collective_;
};

}  // namespace vsim::gpu
