#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace vsim::gpu {

/// Decides whether a wait is worth looking again and again for its end, in place of going to sleep: waking a
/// sleeping thread costs tens of microseconds, more than most instructions of an idle stream take. It is
/// while the waits were short lately, for about as long as a wake-up costs, and for twice as many threads at
/// once as run at once; between looks they give way to others. So a wait costs at most about twice the work
/// of a sleep, and where waits are long (real kernels, many ranks on few cores) nearly all of them are slept
/// through. Thread-safe; one per place that waits.
class Spinner {
 public:
  /// Looks until `done()` or until it is not worth it any more; answers done().
  template <class Done>
  bool until(Done done) {
    if (!promising_.load(std::memory_order_relaxed)) return false;
    const Ticket ticket;
    if (!ticket.granted) return false;
    const Clock::time_point end = Clock::now() + kLongest;
    do {
      for (int look = 0; look < kLooks; ++look) {
        if (done()) return true;
        pause();
      }
      std::this_thread::yield();
    } while (Clock::now() < end);
    return done();
  }

  /// Waits by `sleep()`, and remembers how long it took.
  template <class Sleep>
  bool asleep(Sleep sleep) {
    const Clock::time_point begin = Clock::now();
    const bool result = sleep();
    promising_.store(Clock::now() - begin < kShort, std::memory_order_relaxed);
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kLongest{50}, kShort{150};
  static constexpr int kLooks = 16;

  /// Leave to spin.
  struct Ticket {
    Ticket();
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    bool granted;
  };
  static void pause();

  std::atomic<bool> promising_ = true;
};

}  // namespace vsim::gpu
