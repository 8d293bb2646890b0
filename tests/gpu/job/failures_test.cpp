#include <catch2/catch.hpp>

#include "tests/gpu/job/child_processes.h"
#include "tests/gpu/job/job_harness.h"

using namespace vsim;
using namespace vsim::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

using Body = std::function<void(gpu::Job& job, const ChildProcesses::Say& say)>;

/// Processes of one job, each at `body` when it has joined. A process says "ready" first, and after the body
/// how long the end of its job took ("left 12 ms").
std::unique_ptr<ChildProcesses> jobOf(int processes, std::chrono::milliseconds silence, const Body& body) {
  const std::string name = freshJobName();
  return std::make_unique<ChildProcesses>(processes, [&](int process, const ChildProcesses::Say& say) {
    gpu::JoinOptions options = optionsOf(process);
    options.silence = silence;
    JobResult job = gpu::joinJob(launchOf(name, process, processes), options);
    if (!job) return say("not joined: " + job.error().text());
    (*job)->setStatus([process] {
      return process == 0 ? "rank 0 waits in all_gather(L1) of group dp_shard (step 1, instruction 41)"
                          : "rank " + std::to_string(process) + " computes";
    });
    say("ready");
    body(**job, say);
    const auto begin = std::chrono::steady_clock::now();
    job->reset();
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    say("left " + std::to_string(took.count()));
  });
}

/// Waits for what cannot come, and says the error.
void waitForFailure(gpu::Job& job, const ChildProcesses::Say& say) {
  const auto texts = job.exchange("x");
  say(texts ? "no error" : texts.error().text());
}

void waitUntilReady(ChildProcesses& children, int count) {
  for (int child = 0; child < count; ++child) REQUIRE(children.line(child) == "ready");
}

/// Leaving takes two seconds at most; the rest is for a machine that is busy.
void checkLeft(const std::string& line) {
  REQUIRE_THAT(line, StartsWith("left "));
  CHECK(std::stoi(line.substr(5)) < 6000);
}

}  // namespace

TEST_CASE("failures: a killed process is named by all others, with what they waited for") {
  const auto children = jobOf(4, 20s, [](gpu::Job& job, const ChildProcesses::Say& say) {
    if (job.process() == 3) std::this_thread::sleep_for(50s);
    waitForFailure(job, say);
  });
  waitUntilReady(*children, 4);
  children->signal(3, SIGKILL);
  const std::string first = children->line(0);
  CHECK_THAT(first, StartsWith("rank 3 on host3 (process " + std::to_string(children->pid(3)) + ") ended; "));
  CHECK_THAT(first, Contains("rank 0 waits in all_gather(L1) of group dp_shard (step 1, instruction 41)"));
  CHECK_THAT(first, Contains("; rank 1 computes; rank 2 computes"));
  CHECK(children->line(1) == first);
  CHECK(children->line(2) == first);
  for (int child = 0; child < 3; ++child) checkLeft(children->line(child));
}

TEST_CASE("failures: a killed leader is named by all others") {
  const auto children = jobOf(3, 20s, [](gpu::Job& job, const ChildProcesses::Say& say) {
    if (job.process() == 0) std::this_thread::sleep_for(50s);
    waitForFailure(job, say);
  });
  waitUntilReady(*children, 3);
  children->signal(0, SIGKILL);
  for (int child = 1; child < 3; ++child) {
    const std::string line = children->line(child);
    CHECK_THAT(line,
               StartsWith("rank 0 on host0 (process " + std::to_string(children->pid(0)) +
                          "), which leads the job, ended; rank " + std::to_string(child) + " computes"));
    checkLeft(children->line(child));
  }
}

TEST_CASE("failures: a process that stops answering is named, and does not hold up the others' end") {
  const int stopped = GENERATE(0, 1);
  INFO("stopped " << stopped);
  const auto children = jobOf(3, 1500ms, [&](gpu::Job& job, const ChildProcesses::Say& say) {
    if (job.process() == stopped) std::this_thread::sleep_for(50s);
    waitForFailure(job, say);
  });
  waitUntilReady(*children, 3);
  children->signal(stopped, SIGSTOP);
  for (int child = 0; child < 3; ++child) {
    if (child == stopped) continue;
    const std::string line = children->line(child);
    const std::string number = std::to_string(stopped);
    CHECK_THAT(line, StartsWith("rank " + number + " on host" + number));
    CHECK_THAT(line, Contains("has not answered for 1.5 s"));
    checkLeft(children->line(child));
  }
}

TEST_CASE("failures: one short stop is no silence, whoever makes it") {
  const auto children = jobOf(3, 3s, [](gpu::Job& job, const ChildProcesses::Say& say) {
    for (int round = 0; round < 30; ++round) {
      if (!job.exchange("x")) return say("failed: " + job.failure()->text());
      std::this_thread::sleep_for(20ms);
    }
    say("well");
  });
  waitUntilReady(*children, 3);
  for (const int child : {0, 2}) {
    children->signal(child, SIGSTOP);
    std::this_thread::sleep_for(300ms);
    children->signal(child, SIGCONT);
  }
  for (int child = 0; child < 3; ++child) {
    CHECK(children->line(child) == "well");
    checkLeft(children->line(child));
  }
}

TEST_CASE("failures: a process's end is the cause of what others report of it at the same time") {
  const auto children = jobOf(3, 20s, [](gpu::Job& job, const ChildProcesses::Say& say) {
    const auto pids = job.exchange(std::to_string(getpid()));
    if (job.process() == 2) std::this_thread::sleep_for(50s);
    if (job.process() == 1) {
      ::kill(std::stoi(pids->at(2)), SIGKILL);
      job.fail({.message = "the connection to rank 2 was reset"});
      return say(job.failure()->text());
    }
    waitForFailure(job, say);
  });
  waitUntilReady(*children, 3);
  for (int child = 0; child < 2; ++child)
    CHECK_THAT(children->line(child),
               StartsWith("rank 2 on host2 (process ") && Contains(") ended; rank 0 waits in"));
}

TEST_CASE("failures: a failing process that ends at once is known by what it said") {
  const auto children = jobOf(3, 20s, [](gpu::Job& job, const ChildProcesses::Say& say) {
    if (job.process() == 1) {
      job.fail({.message = "rank 1 on host1: out of memory"});  // says its name once
      ::_exit(1);
    }
    waitForFailure(job, say);
  });
  waitUntilReady(*children, 3);
  for (const int child : {0, 2}) CHECK(children->line(child) == "rank 1 on host1: out of memory");
}

TEST_CASE("failures: the leader's own failure reaches all though it leaves at once") {
  const auto children = jobOf(3, 20s, [](gpu::Job& job, const ChildProcesses::Say& say) {
    if (job.leads()) return job.fail({.message = "no such file"});
    waitForFailure(job, say);
  });
  waitUntilReady(*children, 3);
  checkLeft(children->line(0));
  for (const int child : {1, 2}) CHECK(children->line(child) == "rank 0 on host0: no such file");
}

TEST_CASE("failures: processes that end one after the other, in their own time, are no failure") {
  const auto children = jobOf(4, 20s, [](gpu::Job& job, const ChildProcesses::Say& say) {
    if (!job.exchange("x")) return say("failed");
    std::this_thread::sleep_for(50ms * job.process());
    say(job.failure() == nullptr ? "well" : job.failure()->text());
  });
  waitUntilReady(*children, 4);
  for (int child = 0; child < 4; ++child) {
    CHECK(children->line(child) == "well");
    checkLeft(children->line(child));
  }
}
