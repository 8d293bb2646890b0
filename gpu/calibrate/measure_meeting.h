#pragma once

#include <vector>

#include "gpu/calibrate/measurement.h"

namespace vsim::gpu {

/// The compute kernels that stand for what a program does between two collectives.
struct Filler {
  core::Operation product;
  int count = 1;
};

/// A collective as a program has it where ranks share processors: between products. There it costs more than
/// back to back: threads have fallen asleep, ranks arrive when the scheduler has let them, and processors
/// idle until the last one has come. So its time is what it adds to the products' time, at least as long as
/// it lasts once all have come.
///
/// A collective on a stream of its own also runs beside products, and the ones after these wait for it, as
/// units are gathered ahead. That hides its transfer, but not what it takes from the products, nor that the
/// slowest rank holds all others up.
class MeetingMeasurement : public CollectiveMeasurement {
 public:
  /// `beside`: the program has it on another stream than compute.
  MeetingMeasurement(const CollectiveSpec& spec, int ranksPerNode, Filler filler, bool beside);

  [[nodiscard]] ProgramPointer program(const Counts& counts) const override;
  [[nodiscard]] Counts first() const override;
  [[nodiscard]] Counts next(double seconds) const override;
  void take(const core::ExecutionLog& log) override;
  [[nodiscard]] bool settled(double targetError) const override;
  [[nodiscard]] bool hasResult() const override { return !added_.empty(); }
  [[nodiscard]] Estimate result() const override { return estimate(added_); }
  void store(core::Profile& profile, core::Origin origin) const override;
  [[nodiscard]] double secondsEach() const override { return meeting_; }

 private:
  Filler filler_;
  bool beside_;
  double product_ = 0, meeting_ = 0, lost_ = 0;  // seconds of one, as far as known
  /// Seconds: what a collective adds between products; what products beside one lose.
  std::vector<double> added_, losses_;
};

}  // namespace vsim::gpu
