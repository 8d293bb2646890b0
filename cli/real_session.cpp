#include "cli/real_session.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "cli/command_line.h"
#include "cli/output.h"
#include "cli/termination_watch.h"

namespace vsim::cli {
namespace {

// As long as a leading process needs to print before its launcher ends everything.
constexpr std::chrono::milliseconds kLeaderPrints{1000};
// As long as a failure needs to reach the other processes, before this one ends under its threads.
constexpr std::chrono::milliseconds kSpreads{300};

int codeOf(const app::Failure& failure) { return failure.wrongInput ? kWrongInput : kFailed; }

void printFailure(const app::Failure& failure) {
  if (failure.wrongInput || failure.errors.size() > 1)
    static_cast<void>(reportWrongInput(failure.errors));
  else if (!failure.errors.empty())
    static_cast<void>(reportFailure(failure.errors.front()));
}

/// Whether nobody is left to speak for the job: the failure is that its leading process went.
bool leaderIsGone(const gpu::Job& job) {
  const auto failure = job.failure();
  if (failure == nullptr) return false;
  const std::size_t at = failure->message.find("rank 0 on ");
  if (at == std::string::npos) return false;
  const std::string what = failure->message.substr(at, failure->message.find(';', at) - at);
  return what.find(" ended") != std::string::npos || what.find("silent") != std::string::npos;
}

/// Tells the others, prints where it is this process's turn, and answers the exit code.
int failed(gpu::Job& job, TerminationWatch& watch, const app::Failure& failure) {
  const bool ownFailure = job.failure() == nullptr;
  if (ownFailure && !failure.errors.empty()) job.fail(failure.errors.front());
  if (job.leads() || leaderIsGone(job)) {
    if (watch.claimReport()) printFailure(failure);
    if (ownFailure) std::this_thread::sleep_for(kSpreads);
  } else {
    std::this_thread::sleep_for(kLeaderPrints);
  }
  std::fflush(nullptr);
  return codeOf(failure);
}

/// A failure that all processes have in common, while the job itself is well.
int refused(gpu::Job& job, TerminationWatch& watch, const app::Failure& failure) {
  if (job.failure() != nullptr) return failed(job, watch, failure);
  if (job.leads() && watch.claimReport()) printFailure(failure);
  std::fflush(nullptr);
  static_cast<void>(job.exchange("refused"));  // nobody ends before it is printed
  return codeOf(failure);
}

/// The leader's exit code on every process.
int shareCode(gpu::Machine& machine, gpu::Job& job, TerminationWatch& watch, int code) {
  std::fflush(nullptr);
  const auto told = machine.broadcast(std::to_string(code));
  if (!told) return failed(job, watch, {.errors = {told.error()}});
  return machine.leads() ? code : std::atoi(told->c_str());
}

int inJob(gpu::Job& job, TerminationWatch& watch, const gpu::LaunchEnvironment& launch,
          const std::function<RealInput()>& read,
          const std::function<app::Outcome<int>(gpu::Machine&)>& work) {
  const RealInput input = read();
  if (const auto agreed = app::agreeOnInput(job, input.errors, input.what, input.text); !agreed)
    return refused(job, watch, agreed.error());
  auto machine = app::openMachine(job, launch, input.machine);
  if (!machine) return failed(job, watch, machine.error());
  const auto code = work(**machine);
  if (!code) {
    // Wrong input is found by all processes alike; a failure of the machine by some first.
    const int exitCode =
        code.error().wrongInput ? refused(job, watch, code.error()) : failed(job, watch, code.error());
    // What did not react to the failure may still run: the process ends under it.
    std::_Exit(exitCode);
  }
  return shareCode(**machine, job, watch, *code);
}

}  // namespace

bool followsAnother() {
  const auto launch = gpu::launchEnvironment();
  return launch && launch->process != 0;
}

int withMachine(double timeoutSeconds, const std::function<RealInput()>& read,
                const std::function<app::Outcome<int>(gpu::Machine&)>& work) {
  TerminationWatch watch;
  const auto launch = gpu::launchEnvironment();
  if (!launch) return reportWrongInput({launch.error()});
  auto job = app::openJob(*launch, VSIM_VERSION, timeoutSeconds);
  if (!job) {
    printFailure(job.error());
    return codeOf(job.error());
  }
  watch.setJob(job->get());
  const int code = inJob(**job, watch, *launch, read, work);
  watch.setJob(nullptr);
  return code;
}

}  // namespace vsim::cli
