#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "core/base/error.h"
#include "core/base/units.h"

namespace vsim::gpu {

/// What all threads of one execution share: its clock, whether it still goes well, and whether it moves.
/// Thread-safe.
class RunControl {
 public:
  /// Picoseconds since the execution began (steady clock).
  [[nodiscard]] core::Picoseconds now() const;

  /// Ends the execution; the first error is kept.
  void fail(core::Error error);
  [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  [[nodiscard]] std::optional<core::Error> error() const;

  void progressed() { progress_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }

  /// Waits on `changed` until `done()` or the execution has stopped; answers done(). `lock` holds the mutex
  /// that guards what done() reads.
  template <class Done>
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, Done done) const {
    // Whoever stops the execution does not know who waits: everybody looks now and then.
    constexpr std::chrono::milliseconds kLook{50};
    while (!done()) {
      if (stopped()) return false;
      changed.wait_for(lock, kLook);
    }
    return true;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::atomic<bool> stopped_ = false;
  std::atomic<std::uint64_t> progress_ = 0;
  mutable std::mutex mutex_;
  std::optional<core::Error> error_;
};

}  // namespace vsim::gpu
