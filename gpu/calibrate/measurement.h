#pragma once

#include <string>
#include <vector>

#include "core/profile/profile.h"
#include "gpu/calibrate/measurement_programs.h"
#include "gpu/calibrate/readings.h"
#include "gpu/calibrate/statistics.h"

namespace vsim::gpu {

/// How often the parts of a measurement's program are repeated: what the leader decides and tells the others.
using Counts = std::vector<int>;

/// One quantity (or a few that are measured together) of a profile. The title and the program are the same on
/// every process for the same counts; everything else is the leader's alone.
class Measurement {
 public:
  explicit Measurement(std::string title) : title_(std::move(title)) {}
  virtual ~Measurement() = default;
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  [[nodiscard]] const std::string& title() const { return title_; }
  /// nullptr: there is nothing to run.
  [[nodiscard]] virtual ProgramPointer program(const Counts& counts) const = 0;
  [[nodiscard]] virtual int steps() const { return 1; }

  /// Counts of a first, short execution.
  [[nodiscard]] virtual Counts first() const = 0;
  /// Counts of an execution whose repetitions take about `seconds`, from what has been learned.
  [[nodiscard]] virtual Counts next(double seconds) const = 0;
  virtual void take(const core::ExecutionLog& log) = 0;
  /// The interval is small enough: no repetitions more.
  [[nodiscard]] virtual bool settled(double targetError) const = 0;
  [[nodiscard]] virtual bool hasResult() const = 0;
  /// The main quantity.
  [[nodiscard]] virtual Estimate result() const = 0;
  /// Adds what was found; `origin` names the source.
  virtual void store(core::Profile& profile, core::Origin origin) const = 0;

  /// Measurements of one family differ in size; time grows at most as `work` does. "": none.
  [[nodiscard]] const std::string& family() const { return family_; }
  [[nodiscard]] double work() const { return work_; }
  void setFamily(std::string family, double work) {
    family_ = std::move(family);
    work_ = work;
  }
  /// Seconds of one repetition as far as they are known; 0: not yet.
  [[nodiscard]] virtual double secondsEach() const = 0;

 private:
  std::string title_, family_;
  double work_ = 0;
};

/// A measurement whose program repeats one thing.
class RepeatedMeasurement : public Measurement {
 public:
  RepeatedMeasurement(std::string title, Reading reading)
      : Measurement(std::move(title)), reading_(reading) {}

  [[nodiscard]] Counts first() const override;
  [[nodiscard]] Counts next(double seconds) const override;
  void take(const core::ExecutionLog& log) override;
  [[nodiscard]] bool settled(double targetError) const override;
  [[nodiscard]] bool hasResult() const override { return !samples_.empty(); }
  [[nodiscard]] Estimate result() const override { return estimate(samples_); }
  [[nodiscard]] double secondsEach() const override { return secondsEach_; }

 protected:
  [[nodiscard]] Reading reading() const { return reading_; }
  /// Samples of the repetitions of all ranks.
  [[nodiscard]] virtual std::vector<double> samplesOf(const std::vector<Repetitions>& ranks,
                                                      int warmUp) const = 0;

 private:
  [[nodiscard]] int warmUp() const;

  Reading reading_;
  std::vector<double> samples_;
  double secondsEach_ = 0;
};

class CollectiveMeasurement : public RepeatedMeasurement {
 public:
  /// `ranksPerNode`: members on one node. `anyType`: the time depends on the bytes alone, so that the profile
  /// states no data type.
  CollectiveMeasurement(const CollectiveSpec& spec, int ranksPerNode, Reading reading, bool anyType = false);
  [[nodiscard]] ProgramPointer program(const Counts& counts) const override;
  void store(core::Profile& profile, core::Origin origin) const override;
  [[nodiscard]] const CollectiveSpec& spec() const { return spec_; }
  [[nodiscard]] int ranksPerNode() const { return ranksPerNode_; }

 protected:
  [[nodiscard]] std::vector<double> samplesOf(const std::vector<Repetitions>& ranks,
                                              int warmUp) const override;

 private:
  CollectiveSpec spec_;
  int ranksPerNode_;
  bool anyType_;
};

/// The profile's words for one launch of an operation: as many sizes as its kind has; bytes for memory
/// kernels.
[[nodiscard]] core::ProfiledOperation profiled(const core::Operation& operation);

/// A kernel that only costs time.
class OperationMeasurement : public RepeatedMeasurement {
 public:
  OperationMeasurement(const core::Operation& operation, Reading reading);
  [[nodiscard]] ProgramPointer program(const Counts& counts) const override;
  void store(core::Profile& profile, core::Origin origin) const override;
  [[nodiscard]] const core::Operation& operation() const { return operation_; }

 protected:
  [[nodiscard]] std::vector<double> samplesOf(const std::vector<Repetitions>& ranks,
                                              int warmUp) const override;

 private:
  core::Operation operation_;
};

/// A kernel that moves data of a program's buffers. The first step does not count: states are made in it.
class KernelMeasurement : public OperationMeasurement {
 public:
  KernelMeasurement(ProgramPointer program, core::Index kernel, Reading reading);
  [[nodiscard]] ProgramPointer program(const Counts& counts) const override;
  [[nodiscard]] int steps() const override { return 2; }

 private:
  ProgramPointer program_;
  core::Index kernel_;
};

}  // namespace vsim::gpu
