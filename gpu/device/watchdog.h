#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "gpu/device/clock_watch.h"
#include "gpu/device/device_rank.h"
#include "gpu/job/job.h"

namespace vsim::gpu::device {

/// One thread that watches this process's ranks while they run: errors of communicators and devices, failures
/// elsewhere in the job, whether anything moves, and what holds clocks down. When the execution has failed it
/// tells the job, aborts the communicators, and lets the ranks clean up.
class Watchdog {
 public:
  /// All references outlive the object.
  Watchdog(RunControl& control, Job& job, const Communicators& communicators,
           const std::vector<std::unique_ptr<DeviceRank>>& ranks, ClockWatch& clocks, int timeout);
  /// Ends the thread; the ranks have ended by then, or clean up within moments.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// From now on the ranks run: a standstill counts.
  void stepsBegin() { running_.store(true); }

 private:
  void watch();
  void look();
  void lookForStandstill();
  void end();

  RunControl& control_;
  Job& job_;
  const Communicators& communicators_;
  const std::vector<std::unique_ptr<DeviceRank>>& ranks_;
  ClockWatch& clocks_;
  std::chrono::milliseconds timeout_;
  std::atomic<bool> running_ = false, finished_ = false;
  std::optional<std::uint64_t> seen_;  // progress
  std::chrono::steady_clock::time_point since_{};
  std::thread thread_;  // last: it uses the rest
};

/// What the ranks are at, in words: at most eight of them.
[[nodiscard]] std::string positions(const std::vector<std::unique_ptr<DeviceRank>>& ranks);

}  // namespace vsim::gpu::device
