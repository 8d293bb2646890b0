#include <catch2/catch.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include "gpu/job/sockets.h"
#include "tests/gpu/job/job_harness.h"

using namespace vsim;
using namespace vsim::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

int portOf(const gpu::Socket& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  REQUIRE(getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.sin_port);
}

/// Something that listens on a port that the system chose, and is no job.
gpu::Socket foreignListener() {
  auto sockets = gpu::listenAt("127.0.0.1", 0, gpu::Reach::Address);
  REQUIRE(sockets);
  return std::move(sockets->front());
}

/// What every process was told; "joined" for those that joined.
std::vector<std::string> outcomes(std::vector<JobResult> jobs) {
  std::vector<std::string> result;
  for (const JobResult& job : jobs) result.push_back(job ? "joined" : job.error().text());
  leaveAll(jobs);
  return result;
}

gpu::LaunchEnvironment fixed(int process, int port) {
  gpu::LaunchEnvironment launch = launchOf("fixed " + std::to_string(port), process, 2);
  launch.leaderPort = port;
  launch.portDerived = false;
  return launch;
}

}  // namespace

TEST_CASE("joining: another version of vsim is refused, and every process hears it") {
  const auto told = outcomes(joinAll(4, [](int process, auto&, gpu::JoinOptions& options) {
    if (process == 3) options.version = "0.2.0";
  }));
  for (const std::string& each : told) {
    CHECK_THAT(each, StartsWith("rank 3 on host3 (process "));
    CHECK_THAT(each, Contains(") runs vsim 0.2.0, the leader 0.1.0"));
  }
}

TEST_CASE("joining: another number of processes is refused, and every process hears it") {
  const auto told = outcomes(joinAll(3, [](int process, gpu::LaunchEnvironment& launch, auto&) {
    if (process == 1) launch.processes = 16;
  }));
  for (const std::string& each : told)
    CHECK_THAT(each, StartsWith("rank 1 on host1") &&
                         Contains("was started as one of 16 processes, the leader as one of 3"));
}

TEST_CASE("joining: a rank that comes twice is refused, and every process hears it") {
  const auto told = outcomes(joinAll(3, [](int process, gpu::LaunchEnvironment& launch, auto&) {
    if (process == 2) launch.process = 1;
  }));
  for (const std::string& each : told) CHECK_THAT(each, StartsWith("two processes are rank 1: process "));
}

TEST_CASE("joining: processes that do not come are named") {
  const std::string name = freshJobName();
  std::vector<std::string> told(2);
  inThreads(2, [&](int process) {
    gpu::JoinOptions options = optionsOf(process);
    options.timeout = 700ms;
    const JobResult job = gpu::joinJob(launchOf(name, process, 5), options);
    told[static_cast<std::size_t>(process)] = job ? "joined" : job.error().text();
  });
  for (const std::string& each : told) {
    CHECK_THAT(each, StartsWith("ranks 2, 3 and 4 of 5 processes did not come to 127.0.0.1:"));
    CHECK_THAT(each, Contains("within 0.7 s"));
  }
}

TEST_CASE("joining: a leader that does not come is named with its address") {
  gpu::JoinOptions options = optionsOf(1);
  options.timeout = 300ms;
  int port = 0;
  {
    port = portOf(foreignListener());  // free again, most likely
  }
  const JobResult job = gpu::joinJob(fixed(1, port), options);
  REQUIRE_FALSE(job);
  CHECK_THAT(job.error().text(), StartsWith("no answer from the leading process (rank 0) at 127.0.0.1:"));
  CHECK_THAT(job.error().text(), Contains("MASTER_PORT"));
}

TEST_CASE("joining: a member that comes long before its leader finds it") {
  const std::string name = freshJobName();
  std::vector<JobResult> jobs(2);
  inThreads(2, [&](int process) {
    if (process == 0) std::this_thread::sleep_for(600ms);
    jobs[static_cast<std::size_t>(process)] = gpu::joinJob(launchOf(name, process, 2), optionsOf(process));
  });
  for (const JobResult& job : jobs) CHECK(job);
  leaveAll(jobs);
}

TEST_CASE("joining: a chosen port that is taken is an error on the leader") {
  const gpu::Socket foreign = foreignListener();
  const int port = portOf(foreign);
  const JobResult job = gpu::joinJob(fixed(0, port), optionsOf(0));
  REQUIRE_FALSE(job);
  CHECK(job.error().text() ==
        "MASTER_PORT " + std::to_string(port) + " of 127.0.0.1 is taken (choose another)");
}

TEST_CASE("joining: a member that reaches a foreign program says so") {
  const gpu::Socket foreign = foreignListener();
  const std::string answer = GENERATE(std::string(), std::string("HTTP/1.1 400 Bad Request\r\n\r\n"));
  gpu::JoinOptions options = optionsOf(1);
  options.timeout = answer.empty() ? 500ms : 20'000ms;
  std::thread server([&] {
    if (answer.empty() || !gpu::waitReadable(foreign.descriptor(), 10s)) return;
    const gpu::Socket client(::accept(foreign.descriptor(), nullptr, nullptr));
    if (::send(client.descriptor(), answer.data(), answer.size(), MSG_NOSIGNAL) > 0)
      static_cast<void>(gpu::waitReadable(client.descriptor(), 10s));
  });
  const JobResult job = gpu::joinJob(fixed(1, portOf(foreign)), options);
  server.join();
  REQUIRE_FALSE(job);
  CHECK_THAT(job.error().text(), Contains("at 127.0.0.1:" + std::to_string(portOf(foreign))));
  CHECK_THAT(job.error().text(),
             Contains(answer.empty() ? "is silent, so no job of vsim's" : "is no job of vsim's"));
}

TEST_CASE("joining: a derived port that is taken is passed over by all") {
  const std::string name = freshJobName();
  const auto foreign = gpu::listenAt("127.0.0.1", gpu::derivedPort(name), gpu::Reach::Address);
  REQUIRE(foreign);
  std::vector<JobResult> jobs(3);
  inThreads(3, [&](int process) {
    jobs[static_cast<std::size_t>(process)] = gpu::joinJob(launchOf(name, process, 3), optionsOf(process));
  });
  for (const JobResult& job : jobs) {
    INFO((job ? std::string() : job.error().text()));
    CHECK(job);
  }
  leaveAll(jobs);
}

TEST_CASE("joining: two jobs that derive the same port do not mix") {
  const std::string names[2] = {freshJobName(), freshJobName()};
  std::vector<JobResult> jobs(4);
  inThreads(4, [&](int number) {
    gpu::LaunchEnvironment launch = launchOf(names[number / 2], number % 2, 2);
    launch.leaderPort = gpu::derivedPort(names[0]);
    jobs[static_cast<std::size_t>(number)] = gpu::joinJob(launch, optionsOf(number));
  });
  for (int number = 0; number < 4; ++number) {
    const JobResult& job = jobs[static_cast<std::size_t>(number)];
    INFO((job ? std::string() : job.error().text()));
    REQUIRE(job);
    CHECK((*job)->host(0) == "host" + std::to_string(number / 2 * 2));
    CHECK((*job)->host(1) == "host" + std::to_string(number / 2 * 2 + 1));
  }
  leaveAll(jobs);
}

TEST_CASE("joining: over IPv6, where there is one") {
  if (!gpu::listenAt("::1", 0, gpu::Reach::Address)) {
    WARN("no IPv6 here");
    return;
  }
  auto jobs = joinAll(2, [](int, gpu::LaunchEnvironment& launch, auto&) { launch.leaderAddress = "::1"; });
  for (const JobResult& job : jobs) {
    INFO((job ? std::string() : job.error().text()));
    CHECK(job);
  }
  leaveAll(jobs);
}

TEST_CASE("joining: an unknown leader is an error of the leader's") {
  gpu::LaunchEnvironment launch = launchOf(freshJobName(), 0, 2);
  launch.leaderAddress = "no-such-host.invalid";
  const JobResult job = gpu::joinJob(launch, optionsOf(0));
  REQUIRE_FALSE(job);
  CHECK_THAT(job.error().text(), Contains("unknown host 'no-such-host.invalid'"));
}
