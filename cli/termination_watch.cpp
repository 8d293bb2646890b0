#include "cli/termination_watch.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "cli/command_line.h"
#include "cli/output.h"

namespace vsim::cli {
namespace {

using Clock = std::chrono::steady_clock;
// Open MPI follows with SIGKILL after a second.
constexpr std::chrono::milliseconds kGrace{800}, kToPrint{300}, kLook{20};

sigset_t terminationSet() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

TerminationWatch::TerminationWatch() {
  const sigset_t set = terminationSet();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { watch(); });
}

TerminationWatch::~TerminationWatch() {
  stop_ = true;
  thread_.join();
  const sigset_t set = terminationSet();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void TerminationWatch::setJob(gpu::Job* job) {
  const std::lock_guard lock(mutex_);
  job_ = job;
}

void TerminationWatch::watch() {
  const sigset_t set = terminationSet();
  const timespec look{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(kLook).count()};
  while (!stop_)
    if (sigtimedwait(&set, nullptr, &look) == SIGTERM) terminate();
}

void TerminationWatch::terminate() {
  const auto end = Clock::now() + kGrace;
  auto known = Clock::time_point::max();
  while (!stop_ && Clock::now() < end) {
    std::this_thread::sleep_for(kLook);
    const std::lock_guard lock(mutex_);
    if (job_ == nullptr || job_->failure() == nullptr) continue;
    if (known == Clock::time_point::max()) known = Clock::now();
    if (Clock::now() - known > kToPrint) break;  // the main thread does not get to it
  }
  if (stop_) return;
  const std::lock_guard lock(mutex_);
  if (job_ != nullptr && job_->leads() && claimReport()) {
    if (const auto failure = job_->failure())
      static_cast<void>(reportFailure(*failure));
    else
      std::fputs("vsim: ended by SIGTERM\n", stderr);
  }
  std::fflush(stderr);
  std::_Exit(kFailed);
}

}  // namespace vsim::cli
