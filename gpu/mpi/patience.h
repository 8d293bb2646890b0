#pragma once

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>

namespace vsim::gpu {

/// How to pass the time between two looks at requests that are not done. There are often more ranks than
/// cores: whoever spins keeps the awaited one from working. So a wait first gives way to others and then
/// sleeps, longer as the wait gets longer; while data is on its way, which only moves when one looks, it
/// gives way for longer and sleeps shortly. One object per wait.
class Patience {
 public:
  enum class Waiting { forOthers, forData };

  /// `bytes`: that this rank sends and receives.
  explicit Patience(Waiting what, std::size_t bytes = 0)
      : longest_(what == Waiting::forOthers ? std::chrono::nanoseconds(std::chrono::milliseconds(1))
                                            : std::chrono::microseconds(50)),
        giveWay_(std::chrono::microseconds(20) +
                 (what == Waiting::forData
                      ? std::min(std::chrono::nanoseconds(std::chrono::milliseconds(50)),
                                 std::chrono::nanoseconds(static_cast<std::int64_t>(bytes)))  // at 1 GB/s
                      : std::chrono::nanoseconds(0))) {
    // By default the kernel rounds sleeps up by 50 us.
    thread_local const bool sharp = prctl(PR_SET_TIMERSLACK, 1000UL) == 0;
    static_cast<void>(sharp);
  }

  void pass() {
    const auto waited = Clock::now() - begin_;
    if (waited < giveWay_) {
      std::this_thread::yield();
      return;
    }
    constexpr std::chrono::nanoseconds kShortest = std::chrono::microseconds(10);
    constexpr int kPart = 8;  // of the time waited so far: the end is noticed that much late at most
    std::this_thread::sleep_for(
        std::clamp<std::chrono::nanoseconds>((waited - giveWay_) / kPart, kShortest, longest_));
  }
  /// Something came: the wait begins anew.
  void restart() { begin_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::nanoseconds longest_, giveWay_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace vsim::gpu
