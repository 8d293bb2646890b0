#include <catch2/catch.hpp>

#include <sys/socket.h>

#include <atomic>
#include <random>

#include "gpu/job/handshake.h"
#include "tests/gpu/job/job_harness.h"

using namespace vsim;
using namespace vsim::test;
using namespace vsim::gpu;
using Catch::Matchers::Contains;

namespace {

std::chrono::steady_clock::time_point soon() { return std::chrono::steady_clock::now() + 20s; }

Connection hubOf(const LaunchEnvironment& launch) {
  auto hub = findHub({launch.leaderAddress, candidatePorts(launch.leaderPort, true)}, launch.jobName, soon());
  REQUIRE(hub);
  return std::move(*hub);
}

void sendRaw(const Connection& connection, std::string_view bytes) {
  static_cast<void>(::send(connection.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0);
}

/// Whether the other side closes the connection (rather than to wait for more).
bool isClosed(Connection& connection) {
  const auto deadline = soon();
  while (connection.isOpen() && std::chrono::steady_clock::now() < deadline) {
    static_cast<void>(waitReadable(connection.descriptor(), 100ms));
    static_cast<void>(connection.receive());
  }
  return !connection.isOpen();
}

std::string withLength(std::uint64_t length) {
  return encodeFrame(FrameKind::Exchange, "").substr(0, 5) + PayloadWriter().number(length).take();
}

/// A job of two whose leader is real, and whose other process is in the test's hands.
struct HalfJob {
  HalfJob() {
    const LaunchEnvironment launch = launchOf(freshJobName(), 0, 2);
    std::thread leader([&] { job = joinJob(launch, optionsOf(0)); });
    connection.emplace(hubOf(launch));
    const auto peers = introduce(*connection, {launch.jobName, "0.1.0", 1, 2, {"evil", 1}}, soon());
    leader.join();
    REQUIRE(peers);
    REQUIRE(job);
  }
  JobResult job;
  std::optional<Connection> connection;
};

}  // namespace

TEST_CASE("hostile: strangers at the port do not disturb a job") {
  constexpr int kProcesses = 3;
  const std::string name = freshJobName();
  std::vector<JobResult> jobs(kProcesses);
  std::vector<Connection> strangers;
  inThreads(kProcesses + 1, [&](int thread) {
    if (thread < kProcesses) {
      if (thread == 2) std::this_thread::sleep_for(300ms);  // strangers come before the job is complete, too
      jobs[static_cast<std::size_t>(thread)] = joinJob(launchOf(name, thread, kProcesses), optionsOf(thread));
      return;
    }
    const LaunchEnvironment launch = launchOf(name, 1, kProcesses);
    for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n\r\n"), withLength(~std::uint64_t{0}),
                                     withLength(std::uint64_t{1} << 32U), encodeFrame(FrameKind::Goodbye, ""),
                                     encodeFrame(FrameKind::Hello, "nonsense"), std::string("v"),
                                     encodeFrame(FrameKind::Hello, std::string(100, 'x')).substr(0, 50)}) {
      strangers.push_back(hubOf(launch));
      sendRaw(strangers.back(), bytes);
    }
  });
  for (const JobResult& job : jobs) {
    INFO((job ? std::string() : job.error().text()));
    REQUIRE(job);
  }
  for (std::size_t i = 0; i < 5; ++i) CHECK(isClosed(strangers[i]));
  // Half a frame may still become a whole one: that one is waited for, while the job goes on.
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 20; ++trial) {
    strangers.push_back(hubOf(launchOf(name, 1, kProcesses)));
    std::string bytes =
        encodeFrame(static_cast<FrameKind>(1 + random() % kLastFrameKind), std::string(40, 'y'));
    bytes[random() % bytes.size()] = static_cast<char>(random());
    sendRaw(strangers.back(), bytes);
  }
  std::atomic<int> wrong = 0;
  inThreads(kProcesses, [&](int process) {
    for (int round = 0; round < 20; ++round)
      if (!(*jobs[static_cast<std::size_t>(process)])->exchange("x")) ++wrong;
  });
  CHECK(wrong == 0);
  leaveAll(jobs);
}

TEST_CASE("hostile: a process that comes to a running job is refused, and the job goes on") {
  const std::string name = freshJobName();
  std::vector<JobResult> jobs(2);
  inThreads(2, [&](int process) {
    jobs[static_cast<std::size_t>(process)] = joinJob(launchOf(name, process, 2), optionsOf(process));
  });
  const JobResult late = joinJob(launchOf(name, 1, 2), optionsOf(1));
  REQUIRE_FALSE(late);
  CHECK_THAT(late.error().text(), Contains("came when the job was complete already"));
  CHECK((*jobs[0])->failure() == nullptr);
  leaveAll(jobs);
}

TEST_CASE("hostile: a member that sends what is no frame, or a hub's, is the job's failure") {
  const std::string bytes =
      GENERATE(std::string("garbage that is no frame"), withLength(~std::uint64_t{0}),
               withLength((std::uint64_t{64} << 20U) + 1), encodeFrame(FrameKind::Welcome, ""),
               encodeFrame(FrameKind::Hello, ""), std::string("vsJ1\x63") + std::string(8, '\0'));
  HalfJob half;
  sendRaw(*half.connection, bytes);
  const auto texts = (*half.job)->exchange("x");
  REQUIRE_FALSE(texts);
  CHECK_THAT(texts.error().text(), Contains("rank 1 on evil (process 1) cannot be understood any more"));
}

TEST_CASE("hostile: a member that goes in the middle of a frame has ended") {
  HalfJob half;
  sendRaw(*half.connection, encodeFrame(FrameKind::Exchange, std::string(1000, 'x')).substr(0, 500));
  half.connection.reset();
  const auto texts = (*half.job)->exchange("x");
  REQUIRE_FALSE(texts);
  CHECK_THAT(texts.error().text(), Contains("rank 1 on evil (process 1) ended"));
}

TEST_CASE("hostile: a member's random frames end in a result or in a failure, always") {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 25; ++trial) {
    HalfJob half;
    std::string bytes;
    for (std::size_t count = 1 + random() % 6; count > 0; --count) {
      std::string payload(random() % 40, '\0');
      for (char& each : payload) each = static_cast<char>(random());
      // Not one that leaves: that is another test's.
      bytes += encodeFrame(static_cast<FrameKind>(1 + random() % (kLastFrameKind - 1)), payload);
    }
    if (random() % 2 == 0) bytes[random() % bytes.size()] = static_cast<char>(random());
    sendRaw(*half.connection, bytes);
    half.connection->finish();
    half.connection.reset();
    for (int round = 0; round < 10; ++round)
      if (!(*half.job)->exchange("x")) break;
    REQUIRE((*half.job)->failure() != nullptr);
    CHECK_THAT((*half.job)->failure()->text(), Contains("rank 1"));
  }
}

TEST_CASE("hostile: a hub that sends nonsense is an error of the member's") {
  auto pair = socketPair();
  REQUIRE(pair);
  Connection hub(std::move(pair->first), kMaximumShort), connection(std::move(pair->second), kMaximumShort);
  const Hello hello{"job", "0.1.0", 1, 2, {"here", 1}};
  const std::string sent =
      GENERATE(encodeFrame(FrameKind::Welcome, "nonsense"),
               encodeFrame(FrameKind::Welcome, encode(std::vector<Peer>{{"only one", 1}})),
               encodeFrame(FrameKind::Refused, "nonsense"), std::string("garbage"));
  sendRaw(hub, sent);
  const auto peers = introduce(connection, hello, std::chrono::steady_clock::now() + 2s);
  REQUIRE_FALSE(peers);
  CHECK_THAT(peers.error().text(), Contains("the leading process (rank 0)"));
}
