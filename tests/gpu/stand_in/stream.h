#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

namespace vsim::test {

/// One moment in a stream: an event's record.
class Mark {
 public:
  void reach();
  [[nodiscard]] bool reached() const { return reached_.load(std::memory_order_acquire); }
  [[nodiscard]] std::chrono::steady_clock::time_point time() const { return time_; }
  /// Until it is reached or `over` says so.
  void wait(const std::atomic<bool>& over);

 private:
  std::atomic<bool> reached_ = false;
  std::chrono::steady_clock::time_point time_{};
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// A stream of the stand-in: a thread that runs what is pushed, in order, each piece after a random delay.
class StandInStream {
 public:
  /// `over`: the stand-in ends, so that nothing may wait any more. Outlives the object.
  StandInStream(int device, int maxDelay, std::uint64_t seed, const std::atomic<bool>& over);
  ~StandInStream();
  StandInStream(const StandInStream&) = delete;
  StandInStream& operator=(const StandInStream&) = delete;

  void push(std::function<void()> work);
  /// Waits for all that has been pushed.
  void synchronize();
  /// The thread ends when all that has been pushed has run.
  void finish();
  [[nodiscard]] int device() const { return device_; }

 private:
  void work();

  int device_, maxDelay_;
  std::minstd_rand random_;
  const std::atomic<bool>& over_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::uint64_t pushed_ = 0, done_ = 0;
  bool last_ = false;
  std::thread thread_;
};

}  // namespace vsim::test
