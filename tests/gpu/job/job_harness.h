#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gpu/job/tcp_job.h"

namespace vsim::test {

using namespace std::chrono_literals;
using JobResult = core::Result<std::unique_ptr<gpu::Job>>;

/// A name that no other job of this test or of others beside it has.
inline std::string freshJobName() {
  static int count = 0;
  return "test " + std::to_string(getpid()) + "." + std::to_string(++count);
}

/// Of process `process`, with a port that is derived from the name.
inline gpu::LaunchEnvironment launchOf(const std::string& name, int process, int processes) {
  return {.launcher = "test",
          .process = process,
          .processes = processes,
          .localProcess = process,
          .localProcesses = processes,
          .leaderAddress = "127.0.0.1",
          .leaderPort = gpu::derivedPort(name),
          .portDerived = true,
          .jobName = name};
}

inline gpu::JoinOptions optionsOf(int process) {
  return {.version = "0.1.0",
          .host = "host" + std::to_string(process),
          .timeout = 20s,
          .heartbeat = 50ms,
          .silence = 20s};
}

/// Runs `body` for every process in a thread of its own.
inline void inThreads(int processes, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int process = 0; process < processes; ++process)
    threads.emplace_back([&body, process] { body(process); });
  for (std::thread& thread : threads) thread.join();
}

/// The processes of a job as threads of this one; `change` may alter what a process is given.
using Change = std::function<void(int process, gpu::LaunchEnvironment&, gpu::JoinOptions&)>;
inline std::vector<JobResult> joinAll(int processes, const Change& change = {}) {
  std::vector<JobResult> jobs(static_cast<std::size_t>(processes));
  const std::string name = freshJobName();
  inThreads(processes, [&](int process) {
    gpu::LaunchEnvironment launch = launchOf(name, process, processes);
    gpu::JoinOptions options = optionsOf(process);
    if (change) change(process, launch, options);
    jobs[static_cast<std::size_t>(process)] = gpu::joinJob(launch, options);
  });
  return jobs;
}

/// Lets every process leave at the same time, as processes do.
inline void leaveAll(std::vector<JobResult>& jobs) {
  inThreads(static_cast<int>(jobs.size()), [&](int process) {
    if (auto& job = jobs[static_cast<std::size_t>(process)]) job->reset();
  });
}

}  // namespace vsim::test
