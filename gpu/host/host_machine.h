#pragma once

#include <memory>
#include <span>

#include "gpu/host/host_executor.h"
#include "gpu/host/process_transport.h"
#include "gpu/job/job.h"
#include "gpu/machine.h"

namespace vsim::gpu {

struct HostMachineOptions {
  int ranks = 0;           // threads of a job of one process (0: one); else 0 or the number of processes
  std::uint64_t seed = 1;  // of parameters and gradients
  double scale = 1;        // part of each compute kernel's work that is really done; 0: none
  int timeout = 60'000;    // without any progress, milliseconds
  core::Bytes memory = 0;  // for all ranks of one host together; 0: four fifths of what is available
  /// Real runs: memory is not poisoned, kernels without an operation are left out, collectives without
  /// buffers move data. Checks of data: the other way round.
  bool checksData = false;
  /// See HostExecutorOptions.
  int maxDelay = 0;
  std::function<void(const HostObservation&)> observer{};
};

/// The host executor as a machine: ranks are threads of the one process, or one rank is each process of the
/// job. A failure anywhere ends execute() on every process with the same
/// error, and the job with it.
class HostMachine : public Machine {
 public:
  ~HostMachine() override;

  [[nodiscard]] const MachineFacts& facts() const override { return facts_; }
  [[nodiscard]] int ranks() const override { return static_cast<int>(facts_.ranks.size()); }
  [[nodiscard]] bool leads() const override { return job_.leads(); }
  [[nodiscard]] core::Result<std::string> broadcast(const std::string& text) override;
  [[nodiscard]] core::Result<core::ExecutionLog> execute(std::shared_ptr<const core::StepProgram> program,
                                                         int steps) override;
  /// See HostExecutor::contents: ranks of this process.
  [[nodiscard]] std::span<const float> contents(int rank, core::Index buffer) const {
    return executor_->contents(rank, buffer);
  }

 private:
  friend core::Result<std::unique_ptr<HostMachine>> makeHostMachine(
      const HostMachineOptions& options, Job& job, std::unique_ptr<ProcessTransport> transport);
  HostMachine(Job& job, std::unique_ptr<ProcessTransport> transport);

  [[nodiscard]] core::Result<void> start(const HostMachineOptions& options);
  [[nodiscard]] core::Result<void> checkProcesses(int ranks) const;
  [[nodiscard]] core::Result<void> findFacts(int ranks);
  [[nodiscard]] core::Result<void> agreeOn(const core::StepProgram& program, int steps);
  [[nodiscard]] core::Result<core::ExecutionLog> gather(core::ExecutionLog mine);
  /// Tells the others; answers the job's error.
  core::Error failed(const core::Error& error);

  Job& job_;
  std::unique_ptr<ProcessTransport> transport_;  // may be null
  std::unique_ptr<HostExecutor> executor_;       // uses both
  MachineFacts facts_;
};

/// Collective over the job's processes; `job` outlives the machine. `transport`: needed for more than one
/// process (loadMpiTransport), not yet begun; null for one. Errors: numbers of ranks and processes that do
/// not fit, those of the transport and the job.
[[nodiscard]] core::Result<std::unique_ptr<HostMachine>> makeHostMachine(
    const HostMachineOptions& options, Job& job, std::unique_ptr<ProcessTransport> transport);

}  // namespace vsim::gpu
