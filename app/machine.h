#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/failure.h"
#include "gpu/job/job.h"
#include "gpu/job/launch.h"
#include "gpu/machine.h"

namespace vsim::app {

enum class ExecutorChoice : std::uint8_t { automatic, cuda, host };

/// "auto", "cuda", "host". Errors: another word.
[[nodiscard]] core::Result<ExecutorChoice> executorNamed(const std::string& name);

struct MachineOptions {
  ExecutorChoice executor = ExecutorChoice::automatic;  // automatic: cuda
  int ranks = 0;  // threads of the host executor without a launcher; 0: `defaultRanks`
  int defaultRanks = 2;
  double timeoutSeconds = 60;  // without progress
  double scale = 1;            // of the work, host executor
  std::uint64_t seed = 1;
};

/// Joins the processes that the launcher started. `version`: of vsim; all must have the same.
[[nodiscard]] Outcome<std::unique_ptr<gpu::Job>> openJob(const gpu::LaunchEnvironment& launch,
                                                         const std::string& version, double timeoutSeconds);

/// The machine of a job: GPUs where the executor is cuda (one process per GPU; without a launcher, all of
/// this host), else threads of this process, or processes that MPI joins. `job` outlives it. Errors say what
/// is missing and what can be run instead. Collective.
[[nodiscard]] Outcome<std::unique_ptr<gpu::Machine>> openMachine(gpu::Job& job,
                                                                 const gpu::LaunchEnvironment& launch,
                                                                 const MachineOptions& options);

/// The same for all processes: what each loaded or failed to load. `mine`: the errors of this process, and
/// `text`, which must be the same everywhere. Collective.
[[nodiscard]] Outcome<void> agreeOnInput(gpu::Job& job, const core::Errors& mine, const std::string& what,
                                         const std::string& text);

}  // namespace vsim::app
