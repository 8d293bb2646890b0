#include "gpu/job/tcp_job.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "gpu/job/handshake.h"
#include "gpu/job/host_name.h"
#include "gpu/job/member.h"

namespace vsim::gpu {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Later than the hub's own end of patience, so that its reason comes first.
constexpr auto kAfterTimeout = 5s;

/// Room for a connection to every process, as far as this process may make it itself.
void makeRoomForConnections(int processes) {
  constexpr rlim_t kOthers = 256;  // files of everything else
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = static_cast<rlim_t>(processes) + kOthers;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));  // when it does not help, accepting says so
}

struct Listening {
  std::vector<Socket> sockets;
  int port = 0;
};

core::Result<Listening> listenForJob(const LaunchEnvironment& launch) {
  const std::vector<int> ports = candidatePorts(launch.leaderPort, launch.portDerived);
  const Reach reach = launch.localProcesses == launch.processes ? Reach::Address : Reach::OtherHosts;
  for (const int port : ports) {
    auto sockets = listenAt(launch.leaderAddress, port, reach);
    if (sockets) return Listening{std::move(*sockets), port};
    if (sockets.error().kind != ListenFailure::Taken)
      return core::fail(
          fmt::format("cannot listen at {}:{}: {}", launch.leaderAddress, port, sockets.error().message),
          "set MASTER_ADDR to an address of the host of rank 0, and MASTER_PORT to a free port");
  }
  if (!launch.portDerived)
    return core::fail(fmt::format("MASTER_PORT {} of {} is taken", launch.leaderPort, launch.leaderAddress),
                      "choose another");
  return core::fail(
      fmt::format("the ports {} to {} of {} are taken", ports.front(), ports.back(), launch.leaderAddress),
      "set MASTER_PORT to a free port, on all processes");
}

struct Joining {
  std::unique_ptr<Hub> hub;  // the leader's
  Connection connection;
};

core::Result<Joining> lead(const LaunchEnvironment& launch, HubOptions options) {
  makeRoomForConnections(launch.processes);
  core::Result<Listening> listening = listenForJob(launch);
  if (!listening) return tl::unexpected(listening.error());
  auto pair = socketPair();
  if (!pair) return tl::unexpected(pair.error());
  options.address = fmt::format("{}:{}", launch.leaderAddress, listening->port);
  auto hub = std::make_unique<Hub>(std::move(options), std::move(listening->sockets), std::move(pair->first));
  core::Result<Connection> connection = greetOwnHub(std::move(pair->second));
  if (!connection) return tl::unexpected(connection.error());
  return Joining{std::move(hub), std::move(*connection)};
}

core::Result<std::unique_ptr<Job>> join(const LaunchEnvironment& launch, const JoinOptions& options) {
  // In a large job the leader would be busy with signs of life: about as many a second, whatever its size.
  constexpr int kLargeJob = 256;
  const std::chrono::milliseconds heartbeat =
      std::max(options.heartbeat * std::max(1, launch.processes / kLargeJob), 1ms);
  const std::chrono::milliseconds silence = std::max(options.silence, 3 * heartbeat);
  const Clock::time_point deadline = Clock::now() + options.timeout;

  core::Result<Joining> joining = [&]() -> core::Result<Joining> {
    if (launch.process == 0)
      return lead(launch, HubOptions{.jobName = launch.jobName,
                                     .version = options.version,
                                     .processes = launch.processes,
                                     .address = {},
                                     .timeout = options.timeout,
                                     .heartbeat = heartbeat,
                                     .silence = silence});
    const LeaderPlace leader{launch.leaderAddress, candidatePorts(launch.leaderPort, launch.portDerived)};
    core::Result<Connection> connection = findHub(leader, launch.jobName, deadline);
    if (!connection) return tl::unexpected(connection.error());
    return Joining{nullptr, std::move(*connection)};
  }();
  if (!joining) return tl::unexpected(joining.error());

  const Hello hello{.jobName = launch.jobName,
                    .version = options.version,
                    .process = launch.process,
                    .processes = launch.processes,
                    .peer = {options.host.empty() ? hostName() : options.host, getpid()}};
  const auto peers = introduce(joining->connection, hello, deadline + kAfterTimeout);
  if (!peers) return tl::unexpected(peers.error());
  return std::make_unique<Member>(std::move(joining->connection), launch.process, *peers,
                                  Member::Timing{heartbeat, silence}, std::move(joining->hub));
}

}  // namespace

core::Result<std::unique_ptr<Job>> joinJob(const LaunchEnvironment& launch, const JoinOptions& options) {
  if (launch.processes == 1) return singleProcessJob();
  try {
    return join(launch, options);
  } catch (const std::system_error& error) {  // no more threads or descriptors
    return core::fail(fmt::format("the processes cannot be brought together: {}", error.what()));
  }
}

}  // namespace vsim::gpu
