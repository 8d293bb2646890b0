#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "gpu/device/api.h"
#include "gpu/device/clock_watch.h"
#include "gpu/device/communicators.h"
#include "gpu/device/device_options.h"
#include "gpu/job/job.h"
#include "gpu/machine.h"

namespace vsim::gpu::device {

/// Devices that run StepPrograms, one rank each: those of the job's processes, in their order. Every rank has
/// a host thread, real streams (those of collectives with high priority), events, a caching allocator on the
/// device's memory and one communicator per communicator group. Parameters start as, and gradients are,
/// synthetic numbers (gpu/synthetic.h) in the types of the program's buffers.
///
/// An execution that fails leaves nothing on the devices, unless a device does not come to an end. In a job
/// of one process the machine can be used again after it.
class DeviceMachine : public Machine {
 public:
  /// Collective. `job` outlives the machine. Errors: no driver, no device, fewer devices than processes on a
  /// host; another process failed.
  [[nodiscard]] static core::Result<std::unique_ptr<DeviceMachine>> open(std::shared_ptr<Api> api, Job& job,
                                                                         DeviceOptions options);
  ~DeviceMachine() override;

  [[nodiscard]] const MachineFacts& facts() const override { return facts_; }
  [[nodiscard]] int ranks() const override { return static_cast<int>(facts_.ranks.size()); }
  [[nodiscard]] bool leads() const override { return job_.leads(); }
  [[nodiscard]] core::Result<std::string> broadcast(const std::string& text) override {
    return job_.broadcast(text);
  }
  [[nodiscard]] ClockReadings clocks() override { return clocks_ ? clocks_->take() : ClockReadings(); }
  [[nodiscard]] core::Bytes ownMemory() const override { return ownMemory_; }
  /// 1 to 255 steps.
  [[nodiscard]] core::Result<core::ExecutionLog> execute(std::shared_ptr<const core::StepProgram> program,
                                                         int steps) override;

  [[nodiscard]] int firstLocalRank() const { return firstRank_; }
  [[nodiscard]] int localRanks() const { return static_cast<int>(devices_.size()); }
  /// What a buffer of one of this process's ranks held at the end of the last execution; empty when it was
  /// not live, or DeviceOptions::keepContents is off.
  [[nodiscard]] std::span<const float> contents(int rank, core::Index buffer) const;

 private:
  struct Run;
  DeviceMachine(std::shared_ptr<Api> api, Job& job, DeviceOptions options);
  core::Result<void> chooseDevices();
  core::Result<void> learnFacts();
  core::Result<RankFacts> factsOf(int device, int localRank);
  core::Result<void> play(Run& run, int steps);
  core::Result<core::ExecutionLog> gather(Run& run);
  tl::unexpected<core::Error> failed(const core::Error& error);

  std::shared_ptr<Api> api_;  // shared with other machines of the process
  Job& job_;
  DeviceOptions options_;
  MachineFacts facts_;
  std::vector<int> devices_;              // of this process's ranks
  std::vector<DeviceFacts> deviceFacts_;  // of devices_
  int firstRank_ = 0;
  core::Bytes ownMemory_ = 0;
  std::unique_ptr<Communicators> communicators_;
  std::unique_ptr<ClockWatch> clocks_;
  std::vector<std::map<core::Index, std::vector<float>>> contents_;  // [local rank]
};

}  // namespace vsim::gpu::device
