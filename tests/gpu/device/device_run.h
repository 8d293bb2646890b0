#pragma once

#include "tests/gpu/device/checked_run.h"
#include "tests/gpu/stand_in/stand_in.h"

namespace vsim::test {

/// One program on a machine of stand-in devices, with all checks of its data and of what a device would
/// punish.
class DeviceRun : public CheckedRun {
 public:
  DeviceRun(std::shared_ptr<const core::StepProgram> program, const ConformanceCase& what,
            const StandInOptions& devices, gpu::Job* job = nullptr)
      : DeviceRun(std::move(program), what, std::make_shared<StandIn>(devices), job) {}

  [[nodiscard]] std::string violations() const;
  [[nodiscard]] std::string leaks() const;
  [[nodiscard]] StandIn& devices() { return *standIn_; }

 private:
  DeviceRun(std::shared_ptr<const core::StepProgram> program, const ConformanceCase& what,
            std::shared_ptr<StandIn> standIn, gpu::Job* job);
  std::shared_ptr<StandIn> standIn_;
};

}  // namespace vsim::test
