#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "gui/model/memory_curve.h"

namespace vsim::gui {

/// One stay of a buffer in memory: live after the events [begin, end).
struct Lifetime {
  core::Index buffer = 0;
  std::int32_t begin = -1;                                      // -1: live before the log begins
  std::int32_t end = std::numeric_limits<std::int32_t>::max();  // kNeverFreed
  std::int32_t nextOfBuffer = -1;
};
inline constexpr std::int32_t kNeverFreed = std::numeric_limits<std::int32_t>::max();

/// All allocations of a curve in order of their beginning. Immutable; refers to the curve. 16 bytes each.
class Lifetimes {
 public:
  explicit Lifetimes(const MemoryCurve& curve, const std::atomic<bool>* cancelled = nullptr);

  [[nodiscard]] const std::vector<Lifetime>& all() const { return all_; }
  /// What the lifetime takes of the allocated bytes.
  [[nodiscard]] core::Bytes charge(std::int64_t lifetime) const;
  /// First of a buffer; -1: none. The others follow by nextOfBuffer.
  [[nodiscard]] std::int64_t firstOf(core::Index buffer) const;
  /// Lifetimes that are live after the event, in order.
  [[nodiscard]] std::vector<std::int64_t> liveAfter(std::int64_t event) const;
  /// That begins or ends with the event; -1: none.
  [[nodiscard]] std::int64_t ofEvent(std::int64_t event) const;
  /// The peak of the allocated bytes if this buffer never existed.
  [[nodiscard]] core::Bytes peakWithout(core::Index buffer) const {
    return buffer < peakWithout_.size() ? peakWithout_[buffer] : peak_;
  }
  [[nodiscard]] const MemoryCurve& curve() const { return curve_; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] core::Bytes findPeakWithout(core::Index buffer) const;

  static constexpr std::size_t kBlock = 64;

  const MemoryCurve& curve_;
  std::vector<Lifetime> all_;
  std::vector<std::int32_t> first_;       // [buffer]
  std::vector<core::Bytes> peakWithout_;  // [buffer]
  core::Bytes peak_ = 0;
  std::vector<std::int32_t> latestEnd_;  // of each block of 64
};

}  // namespace vsim::gui
