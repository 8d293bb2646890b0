#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "core/program/execution_log.h"
#include "gpu/data_plan.h"
#include "gpu/host/communicator.h"
#include "gpu/host/host_compute.h"
#include "gpu/host/host_executor.h"
#include "gpu/host/host_kernels.h"
#include "gpu/host/host_memory.h"
#include "gpu/host/host_stream.h"
#include "gpu/host/timed_data.h"

namespace vsim::gpu {

/// One rank of a HostExecutor: its memory, its streams, and what its host thread does. run() is that thread;
/// takeLog() and contents() are for afterwards.
class HostRank {
 public:
  /// `communicators`: this rank's, by group of the program; `all`: of all ranks. All references outlive the
  /// object.
  HostRank(const DataPlan& plan, const HostExecutorOptions& options, int rank,
           std::vector<Communicator*> communicators, Communicator& all, RunControl& control);

  void run(int steps);
  /// This rank sets the process's clock to zero when all ranks are ready.
  void keepClock() { keepsClock_ = true; }
  [[nodiscard]] core::RankLog takeLog();
  [[nodiscard]] std::uint64_t executed() const { return executed_; }
  [[nodiscard]] std::span<const float> contents(core::Index buffer) const;
  void join();
  /// Where its threads are, in words. Any thread.
  [[nodiscard]] std::string position() const;

 private:
  struct Mark {
    core::StreamId stream = 0;
    std::uint64_t position = 0;
  };

  bool setUp();
  bool awaitOthers();
  bool issue(const core::Instruction& instruction, core::Index index);
  bool allocate(core::Index buffer, core::Picoseconds time);
  void spoil(core::StreamId stream, std::vector<HostBlock*> blocks);
  bool release(core::Index buffer, core::Picoseconds time);
  bool launch(const core::Instruction& instruction, core::Index index);
  bool communicate(const core::Instruction& instruction, core::Index index);
  bool giveBuffers(const core::Collective& collective, std::size_t member, CollectiveCall& call);
  std::uint64_t giveScratch(const core::Collective& collective, CollectiveCall& call);
  void hook(const core::Instruction& instruction, core::Index index);
  void wait(core::StreamId stream, Mark mark);
  core::Slice& slice(const core::Instruction& instruction, core::Index index);
  bool resolve(const std::vector<core::Index>& buffers, std::vector<HostBlock*>& blocks);
  std::span<float> slot(core::Index buffer, std::int64_t first, std::int64_t count);
  HostObservation observation(core::Index index) const;
  int microBatch(const core::Kernel& kernel);
  void delay(core::StreamId stream);
  void makeScratch();
  void makeCompute();
  bool failed(core::Error error);
  [[nodiscard]] std::string nameOf(core::Index instruction) const;

  const DataPlan& plan_;
  const core::StepProgram& program_;
  const HostExecutorOptions& options_;
  int rank_;
  std::vector<Communicator*> communicators_;
  Communicator& all_;
  RunControl& control_;
  HostMemory memory_;
  std::vector<bool> fresh_;  // [buffer]: nothing issued writes to it since it was allocated
  std::vector<std::pair<core::Index, core::StreamId>> recorded_;  // live buffers used on other streams
  std::vector<Mark> events_;                                      // [event]: its latest record
  std::vector<std::uint64_t> turns_;                              // [group]: collectives issued
  std::map<std::pair<core::Index, core::Index>, int> gradients_;  // (unit, tensor): launches in this step
  std::vector<HostCompute> compute_;                              // [stream]; none: kernels only move data
  std::vector<TimedScratch> scratch_;                             // [group]
  std::vector<std::minstd_rand> delays_;                          // [stream]
  std::vector<std::atomic<std::uint64_t>> running_;               // [stream]: step and instruction it is at
  std::atomic<core::Index> issuing_ = core::kNone;
  std::deque<core::Slice> slices_;  // streams write to it while the host appends
  core::RankLog log_;
  std::uint64_t executed_ = 0;
  bool keepsClock_ = false;
  std::atomic<int> step_ = 0, steps_ = 1;
  std::vector<std::unique_ptr<HostStream>> streams_;  // last: their threads use the rest
};

}  // namespace vsim::gpu
