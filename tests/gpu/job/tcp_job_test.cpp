#include "gpu/job/tcp_job.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <filesystem>

#include "gpu/job/agree.h"
#include "tests/gpu/job/job_harness.h"

using namespace vsim;
using namespace vsim::test;
using Catch::Matchers::Contains;

namespace {

std::size_t threadsOfThisProcess() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

gpu::Job& at(std::vector<JobResult>& jobs, int process) { return **jobs[static_cast<std::size_t>(process)]; }

void requireAll(const std::vector<JobResult>& jobs) {
  for (const JobResult& job : jobs) {
    INFO((job ? std::string() : job.error().text()));
    REQUIRE(job);
  }
}

/// A megabyte-sized text that differs between processes in every byte.
std::string largeText(std::size_t size, int process) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i)
    text[i] = static_cast<char>(i * 31 + static_cast<std::size_t>(process) * 7);
  return text;
}

}  // namespace

TEST_CASE("jobs: exchange and broadcast among 2 to 16 processes, and no thread is left") {
  const std::size_t before = threadsOfThisProcess();
  for (const int processes : {2, 3, 8, 16}) {
    std::vector<JobResult> jobs = joinAll(processes);
    requireAll(jobs);
    std::atomic<int> wrong = 0;
    inThreads(processes, [&](int process) {
      gpu::Job& job = at(jobs, process);
      if (job.process() != process || job.processes() != processes || job.leads() != (process == 0)) ++wrong;
      for (int other = 0; other < processes; ++other)
        if (job.host(other) != "host" + std::to_string(other)) ++wrong;
      for (int round = 0; round < 20; ++round) {
        const auto texts = job.exchange(std::to_string(process * 100 + round));
        if (!texts || texts->size() != static_cast<std::size_t>(processes)) {
          ++wrong;
          continue;
        }
        for (int other = 0; other < processes; ++other)
          if ((*texts)[static_cast<std::size_t>(other)] != std::to_string(other * 100 + round)) ++wrong;
        if (job.broadcast(process == 0 ? "leader " + std::to_string(round) : "ignored") !=
            "leader " + std::to_string(round))
          ++wrong;
      }
      if (job.failure() != nullptr) ++wrong;
    });
    CHECK(wrong == 0);
    leaveAll(jobs);
  }
  CHECK(threadsOfThisProcess() == before);
}

TEST_CASE("jobs: empty texts and texts of 8 MiB") {
  constexpr int kProcesses = 2;
  std::vector<JobResult> jobs = joinAll(kProcesses);
  requireAll(jobs);
  std::atomic<int> wrong = 0;
  inThreads(kProcesses, [&](int process) {
    gpu::Job& job = at(jobs, process);
    const auto empty = job.exchange("");
    if (!empty || *empty != std::vector<std::string>(kProcesses)) ++wrong;
    if (job.broadcast("") != "") ++wrong;
    constexpr std::size_t kSize = std::size_t{8} << 20U;
    const auto large = job.exchange(largeText(kSize, process));
    if (!large) {
      ++wrong;
      return;
    }
    for (int other = 0; other < kProcesses; ++other)
      if ((*large)[static_cast<std::size_t>(other)] != largeText(kSize, other)) ++wrong;
    if (job.broadcast(process == 0 ? largeText(kSize, 9) : "") != largeText(kSize, 9)) ++wrong;
    // A text that is too long is refused here, and nobody else hears of it.
    const auto tooLong = job.exchange(std::string((std::size_t{64} << 20U) + 1, 'x'));
    if (tooLong || tooLong.error().message.find("67108865 bytes") == std::string::npos) ++wrong;
    if (!job.exchange("still well")) ++wrong;
  });
  CHECK(wrong == 0);
  leaveAll(jobs);
}

TEST_CASE("jobs: a job of one process needs no network") {
  gpu::LaunchEnvironment launch;
  const JobResult job = gpu::joinJob(launch, {});
  REQUIRE(job);
  CHECK((*job)->leads());
  CHECK((*job)->processes() == 1);
  CHECK_FALSE((*job)->host(0).empty());
  CHECK((*job)->exchange("a") == std::vector<std::string>{"a"});
  CHECK((*job)->broadcast("b") == "b");
  CHECK((*job)->failure() == nullptr);
  (*job)->fail({.message = "first"});
  (*job)->fail({.message = "second"});
  CHECK((*job)->failure()->message == "first");
  CHECK((*job)->exchange("a").error().message == "first");
  std::string told;
  (*job)->onFailure([&](const core::Error& error) { told = error.message; });
  CHECK(told == "first");
}

TEST_CASE("jobs: what one process reports reaches all, and the first failure is kept") {
  constexpr int kProcesses = 4;
  std::vector<JobResult> jobs = joinAll(kProcesses);
  requireAll(jobs);
  std::atomic<int> told = 0, replaced = 0;
  for (int process = 0; process < kProcesses; ++process)
    at(jobs, process).onFailure([&](const core::Error&) { ++replaced; });
  for (int process = 0; process < kProcesses; ++process)
    at(jobs, process).onFailure([&](const core::Error& error) {
      if (error.message == "rank 2 on host2: out of memory") ++told;
    });
  std::vector<std::string> errors(kProcesses);
  inThreads(kProcesses, [&](int process) {
    gpu::Job& job = at(jobs, process);
    if (process == 2)
      job.fail({.message = "out of memory", .file = "a.yaml", .line = 3, .hint = "take less"});
    // The others learn it in the middle of an exchange that can never be complete.
    const auto texts = job.exchange("x");
    errors[static_cast<std::size_t>(process)] = texts ? "no error" : texts.error().text();
  });
  for (const std::string& error : errors)
    CHECK(error == "a.yaml:3: rank 2 on host2: out of memory (take less)");
  // A second failure changes nothing.
  at(jobs, 1).fail({.message = "later"});
  for (int process = 0; process < kProcesses; ++process)
    CHECK(at(jobs, process).failure()->message == "rank 2 on host2: out of memory");
  std::string late;
  at(jobs, 3).onFailure([&](const core::Error& error) { late = error.message; });
  CHECK(late == "rank 2 on host2: out of memory");
  leaveAll(jobs);
  CHECK(told == kProcesses - 1);  // the failing process knows itself
  CHECK(replaced == 0);
}

TEST_CASE("jobs: a process that leaves while others go on is an error, leaving together is none") {
  std::vector<JobResult> jobs = joinAll(3);
  requireAll(jobs);
  const int leaver = GENERATE(0, 1);
  INFO("leaver " << leaver);
  jobs[static_cast<std::size_t>(leaver)]->reset();
  std::atomic<int> wrong = 0;
  inThreads(3, [&](int process) {
    if (process == leaver) return;
    const auto texts = at(jobs, process).exchange("x");
    if (texts ||
        texts.error().message.find("rank " + std::to_string(leaver) + " on host" + std::to_string(leaver)) !=
            0 ||
        texts.error().message.find("has left the job while rank") == std::string::npos)
      ++wrong;
  });
  CHECK(wrong == 0);
  leaveAll(jobs);
}

TEST_CASE("jobs: processes that do different things are told so") {
  std::vector<JobResult> jobs = joinAll(2);
  requireAll(jobs);
  std::vector<std::string> errors(2);
  inThreads(2, [&](int process) {
    gpu::Job& job = at(jobs, process);
    if (process == 0) {
      const auto texts = job.exchange("x");
      errors[0] = texts ? "none" : texts.error().message;
    } else {
      const auto text = job.broadcast("x");
      errors[1] = text ? "none" : text.error().message;
    }
  });
  CHECK_THAT(errors[0], Contains("rank 0 is at an exchange while rank 1 is at a broadcast"));
  CHECK(errors[1] == errors[0]);
  leaveAll(jobs);
}

TEST_CASE("agree: equal texts pass, different ones name the rank and the line") {
  struct Case {
    std::string what, leader, other, says;
  };
  const std::vector<Case> cases{
      {"scenarios", "a: 1\nbatch: 4\nc: 2\n", "a: 1\nbatch: 8\nc: 2\n",
       "ranks have different scenarios: rank 2 on host2: line 2 'batch: 8' against 'batch: 4' of rank 0 on "
       "host0"},
      {"scenarios", "a\nb\n", "a\n", "line 2 nothing against 'b' of rank 0"},
      {"scenarios", "a\n", "a\n\n", "line 2 '' against nothing of rank 0"},
      {"scenarios", "a\nb", "a\nb\n", "the end of the last line"},
      {"versions of vsim", "0.1.0", "0.2.0", "rank 2 on host2: '0.2.0' against '0.1.0' of rank 0 on host0"},
      {"lines", std::string(300, 'x') + "1", std::string(300, 'x') + "2", "xxx2' against '...xxx"},
  };
  std::vector<JobResult> jobs = joinAll(3);
  requireAll(jobs);
  for (const Case& each : cases) {
    INFO(each.says);
    std::vector<std::string> same(3), different(3);
    inThreads(3, [&](int process) {
      gpu::Job& job = at(jobs, process);
      const auto agreed = gpu::agree(job, each.what, each.leader);
      const auto disagreed = gpu::agree(job, each.what, process == 2 ? each.other : each.leader);
      same[static_cast<std::size_t>(process)] = agreed ? "" : agreed.error().text();
      different[static_cast<std::size_t>(process)] = disagreed ? "" : disagreed.error().text();
    });
    for (const std::string& error : same) CHECK(error.empty());
    for (const std::string& error : different) {
      CHECK_THAT(error, Contains(each.says));
      CHECK(error == different[0]);
    }
  }
  std::vector<std::string> errors(3);
  inThreads(3, [&](int process) {
    const auto agreed = gpu::agree(at(jobs, process), "seeds", std::to_string(process));
    errors[static_cast<std::size_t>(process)] = agreed ? "" : agreed.error().text();
  });
  CHECK_THAT(errors[1],
             Contains("rank 1 on host1: '1' against '0'") && Contains("ranks 1 and 2 differ from rank 0"));
  leaveAll(jobs);
}
