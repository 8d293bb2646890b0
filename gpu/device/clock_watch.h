#pragma once

#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gpu/device/api.h"

namespace vsim::gpu::device {

/// What held the clocks of some devices down while they worked. look() from one thread, take() from any.
class ClockWatch {
 public:
  ClockWatch(Api& api, std::vector<int> devices) : api_(api), devices_(std::move(devices)) {}

  /// Asks the devices, at most a few times a second.
  void look() {
    constexpr std::chrono::milliseconds kPause{200};
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kPause) return;
    last_ = now;
    for (const int device : devices_) {
      ClockFacts facts;
      if (!api_.clocks(device, facts).ok() || facts.throttled.empty()) continue;
      const std::lock_guard lock(mutex_);
      seen_.insert(facts.throttled);
    }
  }
  /// "power cap; power cap, thermal slowdown": all that was seen since the last call.
  [[nodiscard]] std::string take() {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const std::string& one : seen_) text += (text.empty() ? "" : "; ") + one;
    seen_.clear();
    return text;
  }

 private:
  Api& api_;
  std::vector<int> devices_;
  std::chrono::steady_clock::time_point last_{};
  std::mutex mutex_;
  std::set<std::string> seen_;
};

}  // namespace vsim::gpu::device
