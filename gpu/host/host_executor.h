#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/program/executor.h"
#include "gpu/host/host_memory.h"
#include "gpu/host/process_transport.h"
#include "gpu/observation.h"

namespace vsim::gpu {

using HostObservation = Observation;

struct HostExecutorOptions {
  int ranks = 1;           // 1 to 64 threads; with a transport: all processes
  std::uint64_t seed = 1;  // of parameters, gradients and delays
  /// Streams wait a random time below this before each kernel and collective, which brings missing waits to
  /// light. Microseconds.
  int maxDelay = 0;
  /// The execution ends with an error when no thread has got on for so long. Milliseconds.
  int timeout = 60'000;
  /// Real memory of all ranks together.
  core::Bytes memoryLimit = core::Bytes{4} << 30U;
  Leftover leftover = Leftover::poisoned;
  /// Part of each compute kernel's work that is really done (HostCompute); 0: compute kernels do nothing.
  double computeScale = 0;
  /// Collectives without buffers (token exchanges) move as much out of and into scratch memory as if they had
  /// some (timed_data.h); else they only wait for each other.
  bool moveTimedData = false;
  /// Kernels without an operation run: data is right. Without them, buffers hold what the last owner left,
  /// and streams do nothing that a GPU would not.
  bool runUntimedKernels = true;
  /// Ranks are processes, of which this one runs a single rank. Outlives the executor.
  ProcessTransport* transport = nullptr;
  /// What errors call the ranks' machines, [rank]; empty: nothing.
  std::vector<std::string> hosts{};
  /// Errors begin with the rank and its machine. Else whoever reports them says that (a job's processes).
  bool namesRank = true;
  /// Told from any thread when an execution fails here, before execute returns; not told what stop() brought.
  std::function<void(const core::Error&)> onFailure{};
  /// Called for kernels, collectives and hooks in stream order, from the streams' threads: at once for
  /// different streams.
  std::function<void(const HostObservation&)> observer{};
};

/// Runs a StepProgram on real data: a rank is one thread that issues instructions and one worker thread per
/// stream; events, waits, communicators and memory pools mean what they mean on a GPU. Ranks are threads of
/// this process, or processes (ProcessTransport). The clock is the steady clock, from when all ranks have set
/// up. Parameters start as, and gradients are, synthetic numbers (synthetic.h); compute kernels do nothing
/// with them, clipping included. All types are kept as floats, rounded as the type rounds.
///
/// Kernels without an operation move data but are not logged. Memory is counted in the buffers' own bytes.
class HostExecutor : public core::Executor {
 public:
  explicit HostExecutor(HostExecutorOptions options);
  ~HostExecutor() override;

  /// Every rank runs the same program; the log has the ranks of this process. 1 to 255 steps. Errors:
  /// programs that do not fit the ranks or that the host cannot compute (see DataPlan), buffers used while
  /// they are not live, memory that is not there, collectives that do not fit each other or to which a rank
  /// does not come (named with ranks, group and operation). After an error threads that do not react are left
  /// behind: the process should end soon.
  [[nodiscard]] core::Result<core::ExecutionLog> execute(std::shared_ptr<const core::StepProgram> program,
                                                         int steps) override;
  /// One program per rank of this process; the log names the first one.
  [[nodiscard]] core::Result<core::ExecutionLog> executeEach(
      const std::vector<std::shared_ptr<const core::StepProgram>>& programs, int steps);

  /// Ends a running execution with this error. Any thread.
  void stop(const core::Error& error);
  /// Where this process's ranks wait, in words; empty when nothing runs. Any thread.
  [[nodiscard]] std::string status() const;

  /// What a buffer holds that was live when the last execution ended, else nothing; ranks of this process.
  /// Optimizer states: all first moments, then all second ones. Valid until the next execution.
  [[nodiscard]] std::span<const float> contents(int rank, core::Index buffer) const;

 private:
  struct Run;
  [[nodiscard]] std::vector<int> localRanks() const;
  [[nodiscard]] core::Result<std::shared_ptr<Run>> prepare(
      const std::vector<std::shared_ptr<const core::StepProgram>>& programs);

  HostExecutorOptions options_;
  mutable std::mutex mutex_;
  // Shared with the execution's threads, which may outlive a failed one.
  std::shared_ptr<Run> run_, current_;
};

}  // namespace vsim::gpu
