#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/program/executor.h"
#include "gpu/observation.h"

namespace vsim::gpu {

using HostObservation = Observation;

struct HostExecutorOptions {
  int ranks = 1;           // 1 to 64
  std::uint64_t seed = 1;  // of parameters, gradients and delays
  /// Streams wait a random time below this before each kernel and collective, which brings missing waits to
  /// light. Microseconds.
  int maxDelay = 0;
  /// The execution ends with an error when no thread has got on for so long. Milliseconds.
  int timeout = 60'000;
  /// Real memory of all ranks together.
  core::Bytes memoryLimit = core::Bytes{4} << 30U;
  /// Called for kernels, collectives and hooks in stream order, from the streams' threads: at once for
  /// different streams.
  std::function<void(const HostObservation&)> observer{};
};

/// Runs a StepProgram in this process on real data: a rank is one thread that issues instructions and one
/// worker thread per stream; events, waits, communicators and memory pools mean what they mean on a GPU. The
/// clock is the steady clock. Parameters start as, and gradients are, synthetic numbers (synthetic.h);
/// compute kernels do nothing, clipping included. All types are kept as floats, rounded as the type rounds.
///
/// Kernels without an operation move data but are not logged. Memory is counted in the buffers' own bytes.
class HostExecutor : public core::Executor {
 public:
  explicit HostExecutor(HostExecutorOptions options);
  ~HostExecutor() override;

  /// Every rank runs the same program. 1 to 255 steps. Errors: programs that do not fit the ranks or that the
  /// host cannot compute (see DataPlan), buffers used while they are not live, collectives that do not fit
  /// each other or to which a rank does not come (named with ranks, group and operation).
  [[nodiscard]] core::Result<core::ExecutionLog> execute(std::shared_ptr<const core::StepProgram> program,
                                                         int steps) override;
  /// One program per rank; the log names the first one.
  [[nodiscard]] core::Result<core::ExecutionLog> executeEach(
      const std::vector<std::shared_ptr<const core::StepProgram>>& programs, int steps);

  /// What a buffer holds that was live when the last execution ended, else nothing. Optimizer states: all
  /// first moments, then all second ones. Valid until the next execution.
  [[nodiscard]] std::span<const float> contents(int rank, core::Index buffer) const;

 private:
  struct Run;
  HostExecutorOptions options_;
  std::unique_ptr<Run> run_;
};

}  // namespace vsim::gpu
