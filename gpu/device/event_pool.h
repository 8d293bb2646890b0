#pragma once

#include <vector>

#include "gpu/device/rank_context.h"

namespace vsim::gpu::device {

/// Events of one rank that are used again. One thread at a time.
class EventPool {
 public:
  EventPool(const RankContext& context, bool timed) : context_(context), timed_(timed) {}
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;
  /// All events ever taken must be idle by then.
  ~EventPool() {
    for (const Event event : all_) static_cast<void>(context_.api.destroyEvent(event));
  }

  [[nodiscard]] Event take() {
    if (idle_.empty()) {
      Event event = nullptr;
      context_.check(context_.api.createEvent(event, timed_));
      all_.push_back(event);
      return event;
    }
    const Event event = idle_.back();
    idle_.pop_back();
    return event;
  }
  void giveBack(Event event) { idle_.push_back(event); }
  /// What was taken is not destroyed at the end: the device still uses it.
  void abandon() { all_.clear(); }

 private:
  const RankContext& context_;
  bool timed_;
  std::vector<Event> all_, idle_;
};

}  // namespace vsim::gpu::device
