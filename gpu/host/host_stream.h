#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "gpu/run_control.h"

namespace vsim::gpu {

/// A stream: one worker thread that runs what one host thread pushes, in order. push, issued and finish
/// belong to that host thread; waitUntil and reached to anyone. The worker ends with finish() or the object.
class HostStream {
 public:
  explicit HostStream(RunControl& control);
  ~HostStream();
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  void push(std::function<void()> work);
  /// How much has been pushed: a position that waitUntil understands.
  [[nodiscard]] std::uint64_t issued() const { return issued_; }
  /// Blocks until everything before `position` has run. False: the execution was stopped.
  bool waitUntil(std::uint64_t position);
  /// Runs what is left (nothing when the execution was stopped) and ends the worker.
  void finish();

 private:
  void work();

  RunControl& control_;
  std::mutex mutex_;
  std::condition_variable pushed_, ran_;
  std::deque<std::function<void()>> queue_;
  std::uint64_t issued_ = 0, done_ = 0;
  bool last_ = false;
  std::thread worker_;
};

}  // namespace vsim::gpu
