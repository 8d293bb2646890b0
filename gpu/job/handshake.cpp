#include "gpu/job/handshake.h"

#include <algorithm>
#include <thread>

namespace vsim::gpu {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kCandidates = 8;
// For one attempt to connect, and for a greeting. A hub greets at once, even on a machine that is busy; where
// several ports are tried the wait is short, since they are tried again.
constexpr auto kConnectPatience = 2000ms;
constexpr auto kGreetingPatience = 10'000ms, kShortGreetingPatience = 500ms;
constexpr auto kNamePatience = 10'000ms;  // for a host name to become known
constexpr auto kFirstPause = 20ms, kLongestPause = 300ms;

std::chrono::milliseconds until(Clock::time_point deadline) {
  return std::max(1ms, std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()));
}

/// The next frame, by `deadline`; nothing when the connection ends or nothing comes.
std::optional<Frame> nextFrame(Connection& connection, Clock::time_point deadline) {
  while (true) {
    if (std::optional<Frame> frame = connection.next()) return frame;
    if (!connection.isOpen() || Clock::now() >= deadline) return std::nullopt;
    connection.flush();
    static_cast<void>(waitReadable(connection.descriptor(), until(deadline)));
    connection.fill();
  }
}

struct Rebuff {
  std::string why;
  bool final = false;  // trying again is of no use
};

/// Whether a hub of the job greets on `connection`.
std::optional<Rebuff> awaitGreeting(Connection& connection, const std::string& jobName,
                                    std::chrono::milliseconds patience) {
  const std::optional<Frame> frame = nextFrame(connection, Clock::now() + patience);
  if (!connection.broken().empty()) return Rebuff{"what answers is no job of vsim's", true};
  if (!frame)
    return Rebuff{connection.isOpen() ? "something listens there that is silent, so no job of vsim's"
                                      : "the connection was closed at once"};
  PayloadReader reader(frame->payload);
  const std::string theirs = reader.text();
  if (frame->kind != FrameKind::Greeting || !reader.complete())
    return Rebuff{"what answers is no job of vsim's of this version", true};
  // An earlier job may be about to end: worth another attempt.
  if (theirs != jobName) return Rebuff{fmt::format("another job of vsim's is there ('{}')", theirs)};
  connection.setMaximum(kMaximumGathered);
  return std::nullopt;
}

/// One attempt at one port.
tl::expected<Connection, Rebuff> attempt(const LeaderPlace& leader, int port, const std::string& jobName,
                                         Clock::time_point begin, Clock::time_point deadline) {
  const auto patience = std::min<std::chrono::milliseconds>(kConnectPatience, until(deadline));
  auto socket = connectTo(leader.address, port, patience);
  if (!socket) {
    const bool unknown = socket.error().kind == ConnectFailure::UnknownHost;
    // Container schedulers make the leader's name known some time after its start.
    return tl::unexpected(
        Rebuff{unknown ? "the host is not known: " + socket.error().message : socket.error().message,
               unknown && Clock::now() - begin > kNamePatience});
  }
  Connection connection(std::move(*socket), kMaximumShort);
  const auto greeting = leader.ports.size() > 1 ? kShortGreetingPatience : kGreetingPatience;
  std::optional<Rebuff> rebuff =
      awaitGreeting(connection, jobName, std::min<std::chrono::milliseconds>(greeting, until(deadline)));
  if (!rebuff) return connection;
  rebuff->final &= leader.ports.size() == 1;
  return tl::unexpected(std::move(*rebuff));
}

}  // namespace

std::vector<int> candidatePorts(int port, bool derived) {
  std::vector<int> ports;
  for (int i = 0; i < (derived ? kCandidates : 1) && port + i <= 65535; ++i) ports.push_back(port + i);
  return ports;
}

core::Result<Connection> findHub(const LeaderPlace& leader, const std::string& jobName,
                                 Clock::time_point deadline) {
  const Clock::time_point begin = Clock::now();
  const std::string where =
      leader.ports.size() == 1
          ? fmt::format("{}:{}", leader.address, leader.ports.front())
          : fmt::format("{}:{}-{}", leader.address, leader.ports.front(), leader.ports.back());
  const auto give = [&](const std::string& why) {
    return core::fail(fmt::format("no answer from the leading process (rank 0) at {}: {}", where, why),
                      "is it running, and is MASTER_ADDR its host and MASTER_PORT a free port there?");
  };
  for (auto pause = kFirstPause;; pause = std::min(kLongestPause, pause * 2)) {
    std::string why;
    for (const int port : leader.ports) {
      auto connection = attempt(leader, port, jobName, begin, deadline);
      if (connection) return std::move(*connection);
      if (connection.error().final) return give(connection.error().why);
      why = connection.error().why;
    }
    if (Clock::now() >= deadline) return give(why);
    std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(pause, until(deadline)));
  }
}

core::Result<Connection> greetOwnHub(Socket socket) {
  Connection connection(std::move(socket), kMaximumGathered);
  if (!nextFrame(connection, Clock::now() + kGreetingPatience))
    return core::fail("the job's thread in this process does not answer");
  return connection;
}

core::Result<std::vector<Peer>> introduce(Connection& hub, const Hello& hello, Clock::time_point deadline) {
  hub.send(FrameKind::Hello, encode(hello));
  while (const std::optional<Frame> frame = nextFrame(hub, deadline)) {
    if (frame->kind == FrameKind::Refused) {
      std::optional<Failure> refusal = decodeFailure(frame->payload);
      if (!refusal) break;
      return tl::unexpected(std::move(refusal->error));
    }
    if (frame->kind != FrameKind::Welcome) continue;
    std::optional<std::vector<Peer>> peers = decodePeers(frame->payload);
    if (!peers || static_cast<int>(peers->size()) != hello.processes) break;
    return std::move(*peers);
  }
  return core::fail(hub.isOpen() ? "the leading process (rank 0) does not answer any more"
                                 : "the leading process (rank 0) ended before the job was complete");
}

}  // namespace vsim::gpu
