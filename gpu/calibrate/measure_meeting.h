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
/// A collective on a stream of its own also runs beside products that do not wait for it. There it takes from
/// them what its work and its wake-ups take, but no waiting.
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
  void takeBeside(const std::vector<Repetitions>& products, const std::vector<Repetitions>& collectives);

  Filler filler_;
  bool beside_;
  double product_ = 0, meeting_ = 0, together_ = 0;  // seconds of one, as far as known
  /// Seconds: what a collective adds; how long one lasts beside products, and what of that they lose.
  std::vector<double> added_, lasts_, lost_;
};

}  // namespace vsim::gpu
