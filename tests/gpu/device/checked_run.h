#pragma once

#include <memory>
#include <string>

#include "gpu/device/device_machine.h"
#include "tests/gpu/support/conformance_cases.h"
#include "tests/gpu/support/data_checker.h"

namespace vsim::test {

inline constexpr std::uint64_t kDataSeed = 7;

/// PyTorch's allocator on a device's segments, in its default settings.
std::unique_ptr<core::MemoryModel> allocatorOn(core::SegmentSource& source);
/// The simulator's log with the same allocator.
core::ExecutionLog simulatedWithAllocator(std::shared_ptr<const core::StepProgram> program, int steps);
/// Options of a machine whose data is checked, without observers.
gpu::device::DeviceOptions plainOptions(int timeout = 20'000);

/// One program on a machine of devices, with all checks of its data: to the last bit, or, where a library
/// adds in an order of its own, to within what that may change.
class CheckedRun {
 public:
  /// `options`: observers and contents are added to them. `job` null: a job of this process alone.
  /// References outlive the object.
  CheckedRun(std::shared_ptr<const core::StepProgram> program, const ConformanceCase& what,
             std::shared_ptr<gpu::device::Api> api, gpu::device::DeviceOptions options,
             gpu::Job* job = nullptr);

  core::Result<core::ExecutionLog> execute(int steps);
  /// Of gathered and unsharded parameters while it ran, or "".
  [[nodiscard]] std::string dataProblem() const { return checker_ ? checker_->firstProblem() : ""; }
  [[nodiscard]] std::size_t checkedElements() const { return checker_ ? checker_->checked() : 0; }
  /// Of parameters and optimizer states at the end, or "".
  [[nodiscard]] std::string finalProblem() const;
  /// The machine ends.
  void close() { machine_.reset(); }

 private:
  [[nodiscard]] bool exact() const { return options_.fixedReductionOrder || what_.ranks() == 1; }
  void addObservers();

  std::shared_ptr<const core::StepProgram> program_;
  const ConformanceCase& what_;
  core::TrainModel model_;
  std::unique_ptr<gpu::Job> ownJob_;
  gpu::Job* job_;
  std::shared_ptr<gpu::device::Api> api_;
  gpu::device::DeviceOptions options_;
  std::unique_ptr<ReferenceTraining> reference_;
  std::unique_ptr<DataChecker> checker_;
  std::unique_ptr<gpu::device::DeviceMachine> machine_;
};

}  // namespace vsim::test
