#include "gui/model/memory_check.h"

#include <fmt/format.h>

#include <numeric>

namespace vsim::gui {
namespace {

using core::Bytes;
using core::formatBytes;

class Checker {
 public:
  Checker(const MemoryCurve& curve, const MemoryLimit& limit)
      : curve_(curve),
        limit_(limit.allocator()),
        sums_(curve.partsAfter(-1)),
        taken_(curve.log().program->buffers.size(), kUnseen) {}

  void look(std::int64_t index) {
    const core::MemoryEvent& e = curve_.events()[static_cast<std::size_t>(index)];
    index_ = index;
    if (index > 0 && e.time < curve_.events()[static_cast<std::size_t>(index - 1)].time)
      wrong("its time is before that of the event before it");
    if (e.buffer >= taken_.size())
      wrong(fmt::format("buffer {} is not in the program", e.buffer));
    else
      follow(e, curve_.change(index));
    const Bytes sum = std::accumulate(sums_.begin(), sums_.end(), Bytes{0});
    if (sum != e.allocated)
      wrong(fmt::format("the categories sum to {}, allocated are {}", formatBytes(sum),
                        formatBytes(e.allocated)));
    if (e.allocated > e.active) exceeds("allocated", e.allocated, "active", e.active);
    if (e.active > e.reserved) exceeds("active", e.active, "reserved", e.reserved);
    if (limit_ > 0 && e.reserved > limit_) {
      const bool alone = check_.overLimitAlone;
      exceeds("reserved", e.reserved, "the limit", limit_);
      check_.overLimitAlone = alone;
    }
  }
  [[nodiscard]] MemoryCheck take() { return std::move(check_); }

 private:
  static constexpr Bytes kUnseen = -1, kFree = -2;

  void follow(const core::MemoryEvent& e, Bytes change) {
    const core::Buffer& buffer = curve_.log().program->buffers[e.buffer];
    Bytes& taken = taken_[e.buffer];
    Bytes& sum = sums_[curve_.part(e.buffer)];
    if (e.allocate) {
      if (taken >= 0) wrong("buffer '" + buffer.name + "' is allocated while it is live");
      if (change < buffer.bytes() && index_ > 0)  // what the first event took may be an estimate
        wrong(fmt::format("allocated grows by {} for a buffer of {}", formatBytes(change),
                          formatBytes(buffer.bytes())));
      taken = change;
      sum += change;
      return;
    }
    if (taken == kFree || (taken == kUnseen && curve_.complete()))
      wrong("buffer '" + buffer.name + "' is released while it is not live");
    sum -= taken >= 0 ? taken : -change;  // live before the log begins: its release tells its size
    taken = kFree;
  }
  void exceeds(const char* less, Bytes value, const char* more, Bytes bound) {
    wrong(fmt::format("{} {} exceeds {} {}", less, formatBytes(value), more, formatBytes(bound)));
  }
  void wrong(const std::string& what) {
    check_.overLimitAlone = false;
    if (++check_.violations > 1) return;
    check_.firstEvent = index_;
    check_.first =
        fmt::format("after event {} at {}: {}", index_ + 1, core::formatTime(curve_.time(index_)), what);
  }

  const MemoryCurve& curve_;
  Bytes limit_;
  MemoryParts sums_;
  std::vector<Bytes> taken_;  // [buffer]
  std::int64_t index_ = 0;
  MemoryCheck check_;
};

}  // namespace

MemoryLimit memoryLimit(const core::HardwareFacts& hardware) {
  return {hardware.capacityBytes, hardware.contextBytes, hardware.ncclBytes};
}

MemoryCheck checkMemory(const MemoryCurve& curve, const MemoryLimit& limit,
                        const std::atomic<bool>* cancelled) {
  Checker checker(curve, limit);
  for (std::int64_t i = 0; i < curve.size(); ++i) {
    if (i % 65536 == 0 && cancelled != nullptr && *cancelled) break;
    checker.look(i);
  }
  return checker.take();
}

}  // namespace vsim::gui
