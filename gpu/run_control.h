#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/units.h"

namespace vsim::gpu {

/// What all threads of one execution share: its clock, whether it still goes well, and whether it moves.
/// Thread-safe.
class RunControl {
 public:
  /// Picoseconds since the execution began (steady clock).
  [[nodiscard]] core::Picoseconds now() const;
  /// The clock begins again from zero.
  void restartClock();

  /// Ends the execution; the first error is kept, and told to who asked for it with onFailure.
  void fail(core::Error error);
  /// The same for an error that came from there: it is not told again.
  void stop(core::Error error);
  /// `tell` is called by the thread that fails first. To be set before there are other threads.
  void onFailure(std::function<void(const core::Error&)> tell) { tell_ = std::move(tell); }
  [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  [[nodiscard]] std::optional<core::Error> error() const;

  /// What errors call the machines of the ranks, [rank]. To be set before there are other threads.
  void setHosts(std::vector<std::string> hosts) { hosts_ = std::move(hosts); }
  /// "2", or "2 (node7)" where the hosts are known.
  [[nodiscard]] std::string rankName(int rank) const;

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
  bool keep(const core::Error& error);

  std::atomic<std::chrono::steady_clock::time_point> start_ = std::chrono::steady_clock::now();
  std::atomic<bool> stopped_ = false;
  alignas(64) std::atomic<std::uint64_t> progress_ = 0;  // all write: apart from what all read
  alignas(64) mutable std::mutex mutex_;
  std::optional<core::Error> error_;
  std::function<void(const core::Error&)> tell_;
  std::vector<std::string> hosts_;
};

}  // namespace vsim::gpu
