#pragma once

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "core/program/execution_log.h"
#include "gpu/data_plan.h"
#include "gpu/host/communicator.h"
#include "gpu/host/host_executor.h"
#include "gpu/host/host_kernels.h"
#include "gpu/host/host_memory.h"
#include "gpu/host/host_stream.h"

namespace vsim::gpu {

/// One rank of a HostExecutor: its memory, its streams, and what its host thread does. run() is that thread;
/// takeLog() and contents() are for afterwards.
class HostRank {
 public:
  /// `communicators`: this rank's, by group of the program. All references outlive the object.
  HostRank(const DataPlan& plan, const HostExecutorOptions& options, int rank,
           std::vector<Communicator*> communicators, RunControl& control);

  void run(int steps);
  [[nodiscard]] core::RankLog takeLog();
  [[nodiscard]] std::uint64_t executed() const { return executed_; }
  [[nodiscard]] std::span<const float> contents(core::Index buffer) const;
  void join();

 private:
  struct Mark {
    core::StreamId stream = 0;
    std::uint64_t position = 0;
  };

  bool setUp();
  bool issue(const core::Instruction& instruction, core::Index index);
  bool allocate(core::Index buffer, core::Picoseconds time);
  bool release(core::Index buffer, core::Picoseconds time);
  bool launch(const core::Instruction& instruction, core::Index index);
  bool communicate(const core::Instruction& instruction, core::Index index);
  void hook(const core::Instruction& instruction, core::Index index);
  void wait(core::StreamId stream, Mark mark);
  core::Slice& slice(const core::Instruction& instruction, core::Index index);
  bool resolve(const std::vector<core::Index>& buffers, std::vector<HostBlock*>& blocks);
  std::span<float> slot(core::Index buffer, std::int64_t first, std::int64_t count);
  HostObservation observation(core::Index index) const;
  int microBatch(const core::Kernel& kernel);
  void delay(core::StreamId stream);
  bool failed(const std::string& message);

  const DataPlan& plan_;
  const core::StepProgram& program_;
  const HostExecutorOptions& options_;
  int rank_;
  std::vector<Communicator*> communicators_;
  RunControl& control_;
  HostMemory memory_;
  std::vector<bool> fresh_;  // [buffer]: nothing issued writes to it since it was allocated
  std::vector<std::pair<core::Index, core::StreamId>> recorded_;  // live buffers used on other streams
  std::vector<Mark> events_;                                      // [event]: its latest record
  std::vector<std::uint64_t> turns_;                              // [group]: collectives issued
  std::map<std::pair<core::Index, core::Index>, int> gradients_;  // (unit, tensor): launches in this step
  std::vector<std::minstd_rand> delays_;                          // [stream]
  std::deque<core::Slice> slices_;  // streams write to it while the host appends
  core::RankLog log_;
  std::uint64_t executed_ = 0;
  int step_ = 0;
  std::vector<std::unique_ptr<HostStream>> streams_;  // last: their threads use the rest
};

}  // namespace vsim::gpu
