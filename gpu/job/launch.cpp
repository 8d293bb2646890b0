#include "gpu/job/launch.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "gpu/job/slurm_lists.h"

namespace vsim::gpu {
namespace {

using core::Result;

/// The variables, with an empty one counting as not set.
class Values {
 public:
  explicit Values(const Variables& variables) : variables_(variables) {}

  [[nodiscard]] std::optional<std::string> text(const char* name) const {
    std::optional<std::string> value = variables_(name);
    if (value && value->empty()) value.reset();
    return value;
  }
  [[nodiscard]] bool has(const char* name) const { return text(name).has_value(); }

  /// A whole number from `least` to `most`; nothing when it is not set.
  [[nodiscard]] Result<std::optional<int>> number(const char* name, int least, int most) const {
    const std::optional<std::string> value = text(name);
    if (!value) return std::optional<int>();
    int result = 0;
    const char* end = value->data() + value->size();
    const auto [stop, error] = std::from_chars(value->data(), end, result);
    if (error != std::errc() || stop != end || result < least || result > most)
      return core::fail(
          most == std::numeric_limits<int>::max()
              ? fmt::format("{} is '{}', but must be a whole number of at least {}", name, *value, least)
              : fmt::format("{} is '{}', but must be a whole number from {} to {}", name, *value, least,
                            most));
    return std::optional<int>(result);
  }
  [[nodiscard]] Result<std::optional<int>> number(const char* name, int least) const {
    return number(name, least, std::numeric_limits<int>::max());
  }

 private:
  const Variables& variables_;
};

/// A launcher's names of the four numbers.
struct Names {
  const char* launcher;
  const char* process;
  const char* processes;
  const char* localProcess;
  const char* localProcesses;
};
constexpr Names kTorchrun{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr Names kOpenMpi{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                         "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Names kPmi{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};

bool isLoopback(std::string_view address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

tl::unexpected<core::Error> outside(const char* name, int value, const char* sizeName, int size) {
  return core::fail(fmt::format("{} is {}, but must be below {}, which is {}", name, value, sizeName, size));
}

/// process and processes, which a launcher sets both or neither.
Result<void> readPlace(const Values& values, const Names& names, LaunchEnvironment& launch) {
  const auto process = values.number(names.process, 0);
  if (!process) return tl::unexpected(process.error());
  const auto processes = values.number(names.processes, 1);
  if (!processes) return tl::unexpected(processes.error());
  if (!*process || !*processes) {
    const char* there = *process ? names.process : names.processes;
    const char* missing = *process ? names.processes : names.process;
    return core::fail(fmt::format("{} is {}, but {} is not set", there,
                                  (*process ? *process : *processes).value(), missing),
                      "set both, or neither for a single process");
  }
  if (**process >= **processes) return outside(names.process, **process, names.processes, **processes);
  launch.launcher = names.launcher;
  launch.process = **process;
  launch.processes = **processes;
  return {};
}

/// localProcess and localProcesses. A launcher that says neither: all are here when the leader's address is
/// this machine alone, else there is one on every host (as container schedulers start them).
Result<void> readLocalPlace(const Values& values, const Names& names, LaunchEnvironment& launch) {
  const auto local = values.number(names.localProcess, 0);
  if (!local) return tl::unexpected(local.error());
  const auto count = values.number(names.localProcesses, 1);
  if (!count) return tl::unexpected(count.error());
  if (*count && **count > launch.processes)
    return core::fail(fmt::format("{} is {}, which is more than {}, {}", names.localProcesses, **count,
                                  names.processes, launch.processes));
  const std::optional<std::string> address = values.text("MASTER_ADDR");
  const bool allHere = launch.processes == 1 || (address && isLoopback(*address));
  if (!*local && !*count) {
    launch.localProcess = allHere ? launch.process : 0;
    launch.localProcesses = allHere ? launch.processes : 1;
    return {};
  }
  if (!*count && !allHere)
    return core::fail(
        fmt::format("{} is {}, but {} is not set", names.localProcess, **local, names.localProcesses),
        fmt::format("set {} to the number of processes on this host", names.localProcesses));
  launch.localProcesses = *count ? **count : launch.processes;
  if (!*local && launch.localProcesses > 1 && launch.localProcesses < launch.processes)
    return core::fail(
        fmt::format("{} is {}, but {} is not set", names.localProcesses, **count, names.localProcess),
        fmt::format("set {} to this process's number on this host, from 0", names.localProcess));
  launch.localProcess = *local ? **local : launch.localProcesses == 1 ? 0 : launch.process;
  if (launch.localProcess >= launch.localProcesses)
    return outside(names.localProcess, launch.localProcess, names.localProcesses, launch.localProcesses);
  return {};
}

Result<void> readNames(const Values& values, const Names& names, LaunchEnvironment& launch) {
  if (Result<void> read = readPlace(values, names, launch); !read) return read;
  return readLocalPlace(values, names, launch);
}

/// Whether this process is a task of a Slurm step. The shell of a batch script has SLURM_PROCID (0) and
/// SLURM_NTASKS as well, though it is one process: only what srun starts has SLURM_STEP_ID. A step of Slurm's
/// own, such as an interactive shell, has a number at the end of 32 bits.
bool inSlurmStep(const Values& values) {
  constexpr std::uint32_t kFirstOwnStep = 0xfffffff0U;
  const std::optional<std::string> text = values.text("SLURM_STEP_ID");
  if (!text || !values.has("SLURM_PROCID")) return false;
  std::uint32_t step = 0;
  const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), step);
  return error != std::errc() || step < kFirstOwnStep;  // what is no number is reported with the other names
}

/// The first of two variables that is set: Slurm's names of the step win over those of the whole allocation.
const char* either(const Values& values, const char* ofStep, const char* ofJob) {
  return values.has(ofStep) ? ofStep : ofJob;
}

Result<void> readSlurm(const Values& values, LaunchEnvironment& launch) {
  const char* tasks = either(values, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS");
  const Names names{"srun", "SLURM_PROCID", tasks, "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"};
  if (Result<void> read = readPlace(values, names, launch); !read) return read;
  const auto local = values.number("SLURM_LOCALID", 0);
  if (!local) return tl::unexpected(local.error());
  const auto node = values.number("SLURM_NODEID", 0);
  if (!node) return tl::unexpected(node.error());
  launch.localProcess = local->value_or(0);
  if (launch.processes == 1) return {};
  const char* perNode = either(values, "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE");
  const std::optional<std::string> counts = values.text(perNode);
  if (!*local || !*node || !counts)
    return core::fail(fmt::format("a Slurm step of {} tasks, but {} is not set", launch.processes,
                                  !*local  ? "SLURM_LOCALID"
                                  : !*node ? "SLURM_NODEID"
                                           : perNode),
                      "start vsim with srun, or set RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE");
  const Result<int> count = tasksOfNode(*counts, **node);
  if (!count) return core::fail(fmt::format("{}: {}", perNode, count.error().message));
  launch.localProcesses = *count;
  if (launch.localProcesses > launch.processes)
    return core::fail(fmt::format("{} is '{}': {} tasks on this node are more than {}, {}", perNode, *counts,
                                  launch.localProcesses, tasks, launch.processes));
  if (launch.localProcess >= launch.localProcesses)
    return outside("SLURM_LOCALID", launch.localProcess, perNode, launch.localProcesses);
  return {};
}

/// PMI's numbers are those of the step where srun itself speaks PMI; a launcher that only starts its daemons
/// through srun has other ones.
bool pmiIsSlurms(const Values& values) {
  return inSlurmStep(values) && values.text("PMI_RANK") == values.text("SLURM_PROCID") &&
         values.text("PMI_SIZE") == values.text(either(values, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"));
}

Result<void> readLauncher(const Values& values, LaunchEnvironment& launch) {
  const auto uses = [&](const Names& names) {
    return values.has(names.process) || values.has(names.processes);
  };
  if (uses(kTorchrun)) return readNames(values, kTorchrun, launch);
  if (uses(kOpenMpi)) return readNames(values, kOpenMpi, launch);
  if (uses(kPmi) && !pmiIsSlurms(values)) return readNames(values, kPmi, launch);
  if (inSlurmStep(values)) return readSlurm(values, launch);
  return {};
}

/// What tells this job from others; empty where the launcher gives it no name.
std::string jobIdentity(const Values& values, const LaunchEnvironment& launch) {
  if (launch.launcher == kTorchrun.launcher) {
    if (const auto id = values.text("TORCHELASTIC_RUN_ID"); id && *id != "none")
      return fmt::format("torchrun {}.{}", *id, values.text("TORCHELASTIC_RESTART_COUNT").value_or("0"));
    return {};
  }
  if (launch.launcher == kOpenMpi.launcher) {
    if (const auto id = values.text("PMIX_NAMESPACE")) return "Open MPI " + *id;
    if (const auto id = values.text("OMPI_MCA_ess_base_jobid")) return "Open MPI " + *id;
  }
  const auto job = values.text("SLURM_JOB_ID");
  const auto step = values.text("SLURM_STEP_ID");
  if (job && step) return fmt::format("Slurm {}.{}", *job, *step);
  return {};
}

Result<void> readLeaderAddress(const Values& values, LaunchEnvironment& launch) {
  if (const auto address = values.text("MASTER_ADDR")) {
    launch.leaderAddress = *address;
  } else if (launch.localProcesses == launch.processes) {
    launch.leaderAddress = "127.0.0.1";
  } else if (launch.launcher == "srun") {
    const char* name = either(values, "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST");
    const auto list = values.text(name);
    if (!list)
      return core::fail(fmt::format("{} is not set", name), "set MASTER_ADDR to the host of process 0");
    Result<std::string> host = firstHost(*list);
    if (!host)
      return core::fail(fmt::format("{}: {}", name, host.error().message),
                        "set MASTER_ADDR to the host of process 0");
    launch.leaderAddress = std::move(*host);
  } else {
    return core::fail(fmt::format("{} processes, of which {} run here, but MASTER_ADDR is not set",
                                  launch.processes, launch.localProcesses),
                      "set MASTER_ADDR to the host name of process 0, on all processes");
  }
  return {};
}

Result<void> readLeaderPort(const Values& values, LaunchEnvironment& launch) {
  const auto port = values.number("MASTER_PORT", 1, 65535);
  if (!port) return tl::unexpected(port.error());
  launch.jobName = jobIdentity(values, launch);
  if (!*port) {
    if (launch.jobName.empty())
      return core::fail(
          fmt::format("{} gives this job no name that a port could be taken from, and MASTER_PORT "
                      "is not set",
                      launch.launcher),
          "set MASTER_PORT to a free port of process 0's host, on all processes");
    launch.leaderPort = derivedPort(launch.jobName);
    launch.portDerived = true;
    return {};
  }
  launch.leaderPort = **port;
  launch.jobName += fmt::format("{}port {}", launch.jobName.empty() ? "" : " ", **port);
  // torchrun's agent serves its own store on MASTER_PORT as long as the workers run: a port beside it.
  if (values.text("TORCHELASTIC_USE_AGENT_STORE") == "True") {
    constexpr int kRoom = 16;
    launch.leaderPort += launch.leaderPort > 65535 - kRoom ? -kRoom : 1;
    launch.portDerived = true;
  }
  return {};
}

}  // namespace

int derivedPort(const std::string& jobName) {
  constexpr int kFirst = 20000, kCount = 10000;
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a, 64 bit (Fowler, Noll, Vo)
  for (const char letter : jobName) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3ULL;
  }
  return kFirst + static_cast<int>((hash ^ (hash >> 32U)) % kCount);
}

Result<LaunchEnvironment> launchEnvironment(const Variables& variables) {
  const Values values(variables);
  LaunchEnvironment launch;
  if (Result<void> read = readLauncher(values, launch); !read) return tl::unexpected(read.error());
  if (launch.processes == 1) return launch;
  if (Result<void> read = readLeaderAddress(values, launch); !read) return tl::unexpected(read.error());
  if (Result<void> read = readLeaderPort(values, launch); !read) return tl::unexpected(read.error());
  return launch;
}

Result<LaunchEnvironment> launchEnvironment() {
  return launchEnvironment([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

}  // namespace vsim::gpu
