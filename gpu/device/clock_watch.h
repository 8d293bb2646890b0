#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gpu/device/api.h"
#include "gpu/machine.h"

namespace vsim::gpu::device {

/// What some devices run at while they work, and what holds their clocks down. look() from one thread, take()
/// from any.
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
      if (!api_.clocks(device, facts).ok()) continue;
      const std::lock_guard lock(mutex_);
      processors_.add(facts.smHertz);
      memory_.add(facts.memoryHertz);
      power_.add(facts.powerWatts);
      celsius_ = std::max(celsius_, facts.celsius);
      if (!facts.throttled.empty()) throttled_.insert(facts.throttled);
    }
  }
  /// All that was seen since the last call; `throttled`: "power cap; power cap, thermal slowdown".
  [[nodiscard]] ClockReadings take() {
    const std::lock_guard lock(mutex_);
    ClockReadings readings{.processorHertz = processors_.median(),
                           .lowestHertz = processors_.lowest(),
                           .memoryHertz = memory_.median(),
                           .powerWatts = power_.median(),
                           .highestPowerWatts = power_.highest(),
                           .celsius = celsius_};
    for (const std::string& one : throttled_)
      readings.throttled += (readings.throttled.empty() ? "" : "; ") + one;
    processors_ = memory_ = power_ = {};
    celsius_ = 0;
    throttled_.clear();
    return readings;
  }

 private:
  /// Values by how often they were seen: devices state few different ones, however long one looks.
  class Seen {
   public:
    void add(double value) {
      if (!(value > 0)) return;  // not known
      ++counts_[value];
      ++all_;
    }
    [[nodiscard]] double lowest() const { return all_ == 0 ? 0 : counts_.begin()->first; }
    [[nodiscard]] double highest() const { return all_ == 0 ? 0 : counts_.rbegin()->first; }
    [[nodiscard]] double median() const {
      std::size_t before = 0;
      for (const auto& [value, count] : counts_)
        if ((before += count) * 2 >= all_) return value;
      return 0;
    }

   private:
    std::map<double, std::size_t> counts_;
    std::size_t all_ = 0;
  };

  Api& api_;
  std::vector<int> devices_;
  std::chrono::steady_clock::time_point last_{};
  std::mutex mutex_;
  Seen processors_, memory_, power_;
  double celsius_ = 0;
  std::set<std::string> throttled_;
};

}  // namespace vsim::gpu::device
