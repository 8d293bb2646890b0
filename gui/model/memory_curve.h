#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/program/execution_log.h"
#include "gui/model/time_axis.h"

namespace vsim::gui {

/// What memory is made of: the categories of buffers, and what was there before the log begins (logs of the
/// last step alone) or belongs to no known buffer.
inline constexpr std::size_t kMemoryParts = 10;
inline constexpr std::size_t kEarlierMemory = 9;
using MemoryParts = std::array<core::Bytes, kMemoryParts>;
/// "optimizer state", "before the log".
[[nodiscard]] std::string_view memoryPartName(std::size_t part);

/// Smallest and largest totals over some events; `peak` is the first event with the most allocated.
struct MemoryExtent {
  struct Span {
    core::Bytes least = std::numeric_limits<core::Bytes>::max();
    core::Bytes most = std::numeric_limits<core::Bytes>::min();
    friend bool operator==(const Span&, const Span&) = default;
  };
  Span allocated, active, reserved;
  std::int64_t peak = -1;  // -1: before the first event
  [[nodiscard]] bool empty() const { return allocated.least > allocated.most; }
  friend bool operator==(const MemoryExtent&, const MemoryExtent&) = default;
};

/// Memory of one class of ranks over its events, indexed so that extremes of any range of events and the
/// composition after any event take O(log n). Reads the log, which it shares; adds 7 bytes an event to it.
/// Immutable. Event -1 is the state before the first one.
class MemoryCurve {
 public:
  /// At most 2^31 - 1 events count. `cancelled` may be null; a cancelled curve must not be used.
  MemoryCurve(std::shared_ptr<const core::ExecutionLog> log, std::size_t rankClass,
              const std::atomic<bool>* cancelled = nullptr);

  [[nodiscard]] const core::ExecutionLog& log() const { return *log_; }
  [[nodiscard]] const core::RankLog& rank() const { return log_->ranks[rankClass_]; }
  [[nodiscard]] std::span<const core::MemoryEvent> events() const { return events_; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(events_.size()); }
  /// The log starts with the program's first allocation: nothing was there before.
  [[nodiscard]] bool complete() const { return complete_; }
  /// From 0 to the end of the last step or event.
  [[nodiscard]] TimeRange whole() const { return whole_; }

  [[nodiscard]] core::Picoseconds time(std::int64_t event) const;
  [[nodiscard]] core::Bytes allocated(std::int64_t event) const;
  /// What the event changed `allocated` by.
  [[nodiscard]] core::Bytes change(std::int64_t event) const {
    return allocated(event) - allocated(event - 1);
  }
  [[nodiscard]] std::size_t part(core::Index buffer) const {
    return buffer < parts_.size() ? parts_[buffer] : kEarlierMemory;
  }
  /// Bytes by part after the event; their sum is allocated(event).
  [[nodiscard]] MemoryParts partsAfter(std::int64_t event) const;
  /// Extremes after the events [begin, end); begin may be -1.
  [[nodiscard]] MemoryExtent extent(std::int64_t begin, std::int64_t end) const;

  /// First event at or after `time`, not before `from`; size() if there is none.
  [[nodiscard]] std::int64_t firstAt(core::Picoseconds time, std::int64_t from = 0) const;
  /// Last event at or before `time`; -1: none.
  [[nodiscard]] std::int64_t lastAt(core::Picoseconds time) const;
  /// What happens in each column of the axis, with the state in which it starts: a peak of a single event is
  /// in exactly one column, however short it lasts.
  void columns(const TimeAxis& axis, std::vector<MemoryExtent>& out) const;

  /// The same on an axis of events instead of time, in thousandths of an event: event i reaches from
  /// i * kEventUnit to the next.
  void eventColumns(const TimeAxis& axis, std::vector<MemoryExtent>& out) const;
  static constexpr std::int64_t kEventUnit = 1000;

  /// First event with the most allocated; -1 without events.
  [[nodiscard]] std::int64_t peak() const { return peak_; }
  /// The peak of the allocated bytes if nothing of this part existed.
  [[nodiscard]] core::Bytes peakWithout(std::size_t part) const { return peakWithout_[part]; }
  /// What the index holds besides the log.
  [[nodiscard]] std::size_t bytes() const;

 private:
  static constexpr std::int64_t kFan = 16;         // events of a block, blocks of the next level's block
  static constexpr std::int64_t kCheckpoint = 32;  // events between two kept compositions

  void findStart();
  void build(const std::atomic<bool>* cancelled);
  void buildTimes();
  void buildLevels();
  [[nodiscard]] MemoryExtent at(std::int64_t event) const;

  std::shared_ptr<const core::ExecutionLog> log_;  // shared with the run and other views
  std::size_t rankClass_;
  std::span<const core::MemoryEvent> events_;
  bool complete_ = true;
  TimeRange whole_;
  MemoryParts start_{};                            // before the first event
  core::MemoryEvent before_;                       // totals before the first event
  std::vector<std::uint8_t> parts_;                // [buffer]
  std::vector<MemoryParts> checkpoints_;           // before events 0, 32, ...
  std::vector<std::vector<MemoryExtent>> levels_;  // blocks of 16, 256, ... events
  std::vector<core::Picoseconds> blockTime_;       // of events 0, 16, ...
  std::vector<core::Picoseconds> times_;           // of all events, if the log has them out of order
  std::int64_t peak_ = -1;
  std::array<core::Bytes, kMemoryParts> peakWithout_{};
};

}  // namespace vsim::gui
