#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "gpu/host/spinner.h"
#include "gpu/host/work_queue.h"
#include "gpu/run_control.h"

namespace vsim::gpu {

/// A stream: one worker thread that runs what one host thread pushes, in order. push, issued and finish
/// belong to that host thread; waitUntil and reached to anyone. The worker ends with finish() or the object.
/// Exceptions of the work end the execution.
///
/// Neither side takes a lock while the other is at work: who finds nothing to do looks for a while
/// (Spinner), then goes to sleep, and the other side wakes it.
class HostStream {
 public:
  explicit HostStream(RunControl& control);
  ~HostStream();
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  /// `work`: a callable, not larger than a few kilobytes.
  template <class Work>
  void push(Work&& work) {
    queue_.push(std::forward<Work>(work));
    if (asleep_.load()) wake();
  }
  /// How much has been pushed: a position that waitUntil understands.
  [[nodiscard]] std::uint64_t issued() const { return queue_.pushed(); }
  /// Everything before `position` has run; its effects are visible.
  [[nodiscard]] bool reached(std::uint64_t position) const {
    return done_.load(std::memory_order_acquire) >= position;
  }
  /// Blocks until everything before `position` has run. False: the execution was stopped.
  bool waitUntil(std::uint64_t position);
  /// Runs what is left (nothing when the execution was stopped) and ends the worker.
  void finish();

 private:
  static constexpr std::uint64_t kNobody = std::numeric_limits<std::uint64_t>::max();

  void work();
  bool awaitWork();
  void wake();
  void wakeWaiters();

  RunControl& control_;
  WorkQueue queue_;
  // Where the worker stands, and the least position that somebody sleeps for.
  alignas(64) std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> wanted_ = kNobody;
  Spinner waiterSpin_;
  alignas(64) std::atomic<bool> asleep_ = false;  // the worker sleeps, or is about to
  std::atomic<bool> last_ = false;
  Spinner workerSpin_;
  std::mutex mutex_;  // of those who go to sleep
  std::condition_variable pushed_, ran_;
  std::thread worker_;
};

}  // namespace vsim::gpu
