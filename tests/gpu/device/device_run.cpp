#include "tests/gpu/device/device_run.h"

namespace vsim::test {
namespace {

gpu::device::DeviceOptions standInOptions() {
  gpu::device::DeviceOptions options = plainOptions();
  options.fixedReductionOrder = true;
  return options;
}

}  // namespace

DeviceRun::DeviceRun(std::shared_ptr<const core::StepProgram> program, const ConformanceCase& what,
                     std::shared_ptr<StandIn> standIn, gpu::Job* job)
    : CheckedRun(std::move(program), what, standIn, standInOptions(), job), standIn_(std::move(standIn)) {}

std::string DeviceRun::violations() const {
  return fmt::format("{}", fmt::join(standIn_->violations(), "; "));
}

std::string DeviceRun::leaks() const { return fmt::format("{}", fmt::join(standIn_->leaks(), "; ")); }

}  // namespace vsim::test
