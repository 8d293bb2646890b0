#pragma once

#include "gpu/calibrate/measurement.h"

namespace vsim::gpu {

/// What a rank's host thread pays for launches, events and waits, memory from the cache and from the driver.
class HostCallMeasurement : public Measurement {
 public:
  /// `buffer`: bytes of one allocation. Where ranks share processors, the host threads are often interrupted
  /// by the streams' threads, whose time counts elsewhere: then the shortest calls count.
  HostCallMeasurement(core::Bytes buffer, Reading reading);

  [[nodiscard]] ProgramPointer program(const Counts& counts) const override;
  [[nodiscard]] Counts first() const override { return {100}; }
  [[nodiscard]] Counts next(double) const override { return {100}; }
  void take(const core::ExecutionLog& log) override;
  [[nodiscard]] bool settled(double targetError) const override;
  [[nodiscard]] bool hasResult() const override { return !launches_.empty(); }
  [[nodiscard]] Estimate result() const override { return estimate(launches_); }
  void store(core::Profile& profile, core::Origin origin) const override;
  [[nodiscard]] double secondsEach() const override { return estimate(launches_).median; }

 private:
  [[nodiscard]] double typical(std::vector<double> times) const;
  void takeRank(const core::RankLog& rank, std::size_t launches, int calls);

  core::Bytes buffer_;
  Reading reading_;
  std::vector<double> launches_, calls_, cached_, driver_;  // one sample per rank and execution
};

}  // namespace vsim::gpu
