#include "app/machine.h"

#include <algorithm>
#include <chrono>

#include "gpu/device/device_machine.h"
#include "gpu/device/plugin.h"
#include "gpu/host/host_machine.h"
#include "gpu/job/agree.h"
#include "gpu/job/tcp_job.h"
#include "sim/memory/caching_allocator.h"

namespace vsim::app {
namespace {

using core::Error;
using core::Errors;

int milliseconds(double seconds) { return static_cast<int>(std::min(seconds * 1000, 2e9)); }

/// What an error of a missing GPU adds: the same can be run on the processor.
std::string insteadOf(const gpu::Job& job) {
  return job.processes() > 1 ? "--executor host runs the same on the processors of these machines (with MPI)"
                             : "--executor host --ranks N runs the same on this machine's processor; so does "
                               "mpirun -np N vsim ... --executor host";
}

Outcome<std::unique_ptr<gpu::Machine>> openDevices(gpu::Job& job, const gpu::LaunchEnvironment& launch,
                                                   const MachineOptions& options) {
  auto api = gpu::device::loadPlugin();
  if (!api) {
    Error error = api.error();
    if (error.hint.find("--executor host") == std::string::npos)
      error.hint += (error.hint.empty() ? "" : "; ") + insteadOf(job);
    if (job.processes() > 1) {  // every process ends with it, and its reader looks for the machine
      error.message =
          fmt::format("process {} on {}: {}", job.process(), job.host(job.process()), error.message);
      job.fail(error);
    }
    return machineFailed(std::move(error));
  }
  gpu::device::DeviceOptions device;
  device.makeMemory = [](core::SegmentSource& segments) -> std::unique_ptr<core::MemoryModel> {
    auto allocator = sim::CachingAllocator::onRealMemory({}, segments);
    VSIM_CHECK(allocator.has_value(), "the default options go with real memory");
    return std::move(*allocator);
  };
  device.seed = options.seed;
  device.timeout = milliseconds(options.timeoutSeconds);
  device.localRank = job.processes() > 1 ? launch.localProcess : -1;
  device.unloggedKernels = false;
  auto machine = gpu::device::DeviceMachine::open(std::move(*api), job, std::move(device));
  if (!machine) return machineFailed(machine.error());
  return std::move(*machine);
}

Outcome<std::unique_ptr<gpu::Machine>> openHost(gpu::Job& job, const gpu::LaunchEnvironment& launch,
                                                const MachineOptions& options) {
  gpu::HostMachineOptions host;
  host.seed = options.seed;
  host.scale = options.scale;
  host.timeout = milliseconds(options.timeoutSeconds);
  std::unique_ptr<gpu::ProcessTransport> transport;
  if (job.processes() > 1) {
    if (options.ranks > 0 && options.ranks != job.processes())
      return wrongInput(
          Error{.message = fmt::format("--ranks {}, but {} started {} processes of one rank each",
                                       options.ranks, launch.launcher, job.processes()),
                .hint = "--ranks is for one process whose ranks are threads"});
    auto loaded = gpu::loadMpiTransport();
    if (!loaded) return machineFailed(loaded.error());
    transport = std::move(*loaded);
    host.ranks = job.processes();
  } else {
    host.ranks = options.ranks > 0 ? options.ranks : std::max(1, options.defaultRanks);
  }
  auto machine = gpu::makeHostMachine(host, job, std::move(transport));
  if (!machine) return machineFailed(machine.error());
  return std::move(*machine);
}

}  // namespace

core::Result<ExecutorChoice> executorNamed(const std::string& name) {
  if (name == "auto") return ExecutorChoice::automatic;
  if (name == "cuda") return ExecutorChoice::cuda;
  if (name == "host") return ExecutorChoice::host;
  const std::string near = core::nearest(name, {"auto", "cuda", "host"});
  return core::fail(fmt::format("unknown executor \"{:.40}\"", name),
                    near.empty() ? "auto, cuda or host" : "did you mean " + near + "?");
}

Outcome<std::unique_ptr<gpu::Job>> openJob(const gpu::LaunchEnvironment& launch, const std::string& version,
                                           double timeoutSeconds) {
  gpu::JoinOptions options;
  options.version = version;
  options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeoutSeconds * 1000));
  auto job = gpu::joinJob(launch, options);
  if (!job) return machineFailed(job.error());
  return std::move(*job);
}

Outcome<std::unique_ptr<gpu::Machine>> openMachine(gpu::Job& job, const gpu::LaunchEnvironment& launch,
                                                   const MachineOptions& options) {
  return options.executor == ExecutorChoice::host ? openHost(job, launch, options)
                                                  : openDevices(job, launch, options);
}

Outcome<void> agreeOnInput(gpu::Job& job, const Errors& mine, const std::string& what,
                           const std::string& text) {
  const auto all = job.exchange(mine.empty() ? std::string() : core::text(mine));
  if (!all) return machineFailed(all.error());
  for (std::size_t process = 0; process < all->size(); ++process) {
    if ((*all)[process].empty()) continue;
    if (static_cast<int>(process) == job.process()) return wrongInput(mine);
    return wrongInput(Error{.message = fmt::format("rank {} on {}: {}", process,
                                                   job.host(static_cast<int>(process)), (*all)[process])});
  }
  if (auto same = gpu::agree(job, what, text); !same)
    return job.failure() != nullptr ? Outcome<void>(machineFailed(same.error())) : wrongInput(same.error());
  return {};
}

}  // namespace vsim::app
