#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/data_plan.h"
#include "gpu/host/communicator.h"
#include "gpu/host/host_executor.h"
#include "gpu/host/host_rank.h"
#include "gpu/run_control.h"

namespace vsim::gpu {

/// Everything of one execution in this process; its threads share it, since those that hang outlive it.
struct HostExecutor::Run {
  HostExecutorOptions options;
  RunControl control;
  std::vector<DataPlan> plans;                               // [local rank]
  std::vector<std::unique_ptr<Communicator>> communicators;  // the first one: of all ranks
  std::vector<std::unique_ptr<HostRank>> ranks;
  std::size_t ended = 0;  // of the ranks' host threads
  std::mutex endedMutex;
  std::condition_variable endedChanged;
  std::atomic<bool> connected = false;  // communicators and ranks are there to be asked

  explicit Run(const HostExecutorOptions& wanted);
  ~Run() { join(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Makes the communicators of the local ranks, and the ranks. Errors: those of the transport.
  [[nodiscard]] core::Result<void> connect(const std::vector<int>& localRanks);
  /// Runs the ranks to their end, or to the end of what reacts.
  static void play(const std::shared_ptr<Run>& run, int steps);
  /// Where the ranks are: those who wait for others first. Any thread.
  [[nodiscard]] std::string status() const;

 private:
  void join();
  [[nodiscard]] std::vector<std::string> waits() const;
  void watch();
  [[nodiscard]] core::Error stuck() const;
  [[nodiscard]] core::Result<std::vector<std::vector<Communicator*>>> makeThreadCommunicators(
      const std::vector<int>& localRanks);
  [[nodiscard]] core::Result<std::vector<std::vector<Communicator*>>> makeProcessCommunicators(int rank);
};

}  // namespace vsim::gpu
