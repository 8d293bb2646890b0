#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/error.h"

namespace vsim::gpu {

/// How this process was started, and where it finds the others.
struct LaunchEnvironment {
  std::string launcher = "none";             // "torchrun", "Open MPI", "PMI", "srun", "none"
  int process = 0, processes = 1;            // of the job
  int localProcess = 0, localProcesses = 1;  // of this host
  std::string leaderAddress;                 // of process 0: a host name or an address; empty for one process
  int leaderPort = 0;
  bool portDerived = false;  // nobody chose leaderPort: when it is taken, the next ones are tried
  std::string jobName;       // the same on all processes of a job, and on no other job of the leader's host
};

/// The value of an environment variable, or nothing where it is not set.
using Variables = std::function<std::optional<std::string>(const char* name)>;

/// Looks, in this order, for torchrun's variables (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE), Open
/// MPI's (OMPI_COMM_WORLD_RANK ...), PMI's (PMI_RANK, PMI_SIZE) and those of a Slurm step (SLURM_PROCID ...);
/// none of them: one process. MASTER_ADDR and MASTER_PORT win over what a launcher implies. Errors name the
/// variable, its value and what to set.
[[nodiscard]] core::Result<LaunchEnvironment> launchEnvironment(const Variables& variables);
/// Of this process.
[[nodiscard]] core::Result<LaunchEnvironment> launchEnvironment();

/// A port between 20000 and 29999 (below those that systems give out by themselves) that all processes find
/// alike from the name of their job.
[[nodiscard]] int derivedPort(const std::string& jobName);

}  // namespace vsim::gpu
