#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/memory_check.h"
#include "gui/model/memory_lifetimes.h"

namespace vsim::gui {

/// Segments and blocks of the caching allocator at one instant.
struct AllocatorMap {
  struct Block {
    std::uint64_t address = 0;
    core::Bytes size = 0, asked = 0;  // asked: 0 for free blocks
    std::int64_t lifetime = -1;       // -1: free
  };
  struct Segment {
    std::uint64_t address = 0;
    core::Bytes size = 0, allocated = 0;
    core::StreamId stream = 0;
    bool small = false;
    std::vector<Block> blocks;  // by address, without gaps
  };
  std::int64_t event = -1;
  std::vector<Segment> segments;  // by address
  core::Bytes reserved = 0, allocated = 0, free = 0, largestFree = 0, rounding = 0;
  std::int64_t freeBlocks = 0;
  /// 1 - largest free block / all that is free; 0 when nothing is.
  [[nodiscard]] double fragmentation() const {
    return free > 0 ? 1 - static_cast<double>(largestFree) / static_cast<double>(free) : 0;
  }
};

/// The log's requests given once more to the simulated caching allocator (sim/memory), to learn where
/// segments and blocks lie. Keeps when each segment came and went and where each buffer lay, so that the map
/// at any instant costs what is live then. Immutable; refers to the lifetimes. 16 bytes each lifetime.
class AllocatorReplay {
 public:
  /// Only for complete logs (MemoryCurve::complete).
  AllocatorReplay(const Lifetimes& lifetimes, const MemoryLimit& limit,
                  const std::atomic<bool>* cancelled = nullptr);

  /// A request that the limit refused; the replay goes on without one, as the simulation did.
  struct Failure {
    std::int64_t event = 0;
    core::Index buffer = 0;
    core::Bytes asked = 0;
  };
  [[nodiscard]] AllocatorMap mapAfter(std::int64_t event) const;
  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }
  /// First event whose totals are not those of the log; -1: the replay is what happened.
  [[nodiscard]] std::int64_t differsFrom() const { return differsFrom_; }
  /// Where the lifetime's block lies in the replay, and its size.
  [[nodiscard]] std::uint64_t address(std::int64_t lifetime) const {
    return places_[static_cast<std::size_t>(lifetime)].address;
  }
  [[nodiscard]] core::Bytes size(std::int64_t lifetime) const {
    return places_[static_cast<std::size_t>(lifetime)].size;
  }
  /// Events that can be shown: all, unless memory that is larger than any address ended the replay.
  [[nodiscard]] std::int64_t end() const { return end_; }
  [[nodiscard]] std::size_t segments() const { return segments_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Segment {
    std::uint64_t address = 0;
    core::Bytes size = 0;
    std::int64_t begin = 0, end = kNeverFreed;  // events
    core::StreamId stream = 0;
    bool small = false;
  };
  struct Place {
    std::uint64_t address = 0;
    core::Bytes size = 0;
  };
  class Player;

  const Lifetimes& lifetimes_;
  std::vector<Segment> segments_;  // in order of their beginning
  std::vector<Place> places_;      // [lifetime]
  std::optional<Failure> failure_;
  std::int64_t differsFrom_ = -1, end_ = 0;
};

}  // namespace vsim::gui
