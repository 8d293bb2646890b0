#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/base/units.h"
#include "core/program/step_program.h"

namespace vsim::core {

/// Where an allocator gets its segments from when memory is real: cudaMalloc and cudaFree.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;
  /// Address of `bytes` of device memory; nullopt when there is not enough.
  virtual std::optional<std::uint64_t> obtain(Bytes bytes) = 0;
  virtual void giveBack(std::uint64_t address) = 0;
};

/// The device's memory as an executor sees it: an allocator with one pool per stream. Host order.
class MemoryModel {
 public:
  struct Totals {
    Bytes allocated = 0, active = 0, reserved = 0;
    std::int64_t retries =
        0;  // requests so far that succeeded or failed only after cached blocks were released
  };
  struct Block {
    std::uint64_t address = 0;
    std::int64_t driverCalls = 0;  // cudaMalloc/cudaFree calls that this request made
    bool waitedForDevice = false;  // cached blocks were given back: the device was drained
  };

  virtual ~MemoryModel() = default;
  /// Answers nullopt when memory is exhausted even after cached blocks were released.
  virtual std::optional<Block> allocate(Bytes bytes, StreamId stream) = 0;
  virtual void release(std::uint64_t address) = 0;
  /// Marks the block as used on `stream`: after release it becomes reusable once work issued there has
  /// completed.
  virtual void recordStream(std::uint64_t address, StreamId stream) = 0;
  /// Tells how far the device is: asked for (stream, ticket) whether that work has completed. Tickets are
  /// issued by `issueTicket` at release time.
  virtual void setProgress(std::function<std::uint64_t(StreamId)> issueTicket,
                           std::function<bool(StreamId, std::uint64_t)> completed) = 0;
  [[nodiscard]] virtual Totals totals() const = 0;
  /// From now on memory never runs out: called after a request failed, to learn how much is missing. Answers
  /// false when this memory cannot do that.
  virtual bool liftLimit() { return false; }
};

}  // namespace vsim::core
