#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/program/memory_model.h"
#include "sim/memory/allocator_options.h"

namespace vsim::sim {

/// One call to the CUDA driver. `range` counts the successful allocations and reservations from 0.
struct DriverCall {
  enum class Kind : std::uint8_t {
    malloc,
    free,
    mallocFailed,
    reserve,
    addressFree,
    map,
    unmap,
    createFailed
  };
  Kind kind = Kind::malloc;
  std::uint32_t range = 0;
  Bytes offset = 0, bytes = 0;
  friend bool operator==(const DriverCall&, const DriverCall&) = default;
};

/// What the driver gives: memory up to a capacity, addresses without end. An allocation fails if and only if
/// the bytes in use, in units of 2 MiB, would exceed the capacity. Addresses are never used twice. With a
/// source, memory and addresses are real: an allocation fails also when the source has no more.
class DeviceMemory {
 public:
  struct Range {
    std::uint64_t address = 0;
    Bytes size = 0;
  };

  /// `source` may be null; else it outlives the object, and what is still allocated at the end goes back to
  /// it.
  explicit DeviceMemory(const AllocatorOptions& options, core::SegmentSource* source = nullptr);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  DeviceMemory(DeviceMemory&&) = default;
  DeviceMemory& operator=(DeviceMemory&&) = delete;

  std::optional<std::uint32_t> allocate(Bytes bytes);
  void release(std::uint32_t range);
  std::uint32_t reserve(Bytes bytes);
  void freeAddresses(std::uint32_t range);
  /// All pages or none.
  bool map(std::uint32_t range, Bytes offset, Bytes bytes, Bytes page);
  void unmap(std::uint32_t range, Bytes offset, Bytes bytes);

  [[nodiscard]] const Range& range(std::uint32_t index) const { return ranges_[index]; }
  [[nodiscard]] const std::vector<DriverCall>& calls() const { return calls_; }
  [[nodiscard]] Bytes inUse() const { return inUse_; }
  void setCapacity(Bytes capacity) { capacity_ = capacity; }
  [[nodiscard]] bool real() const { return source_ != nullptr; }

 private:
  std::uint32_t addRange(Bytes bytes);
  std::uint32_t addRealRange(std::uint64_t address, Bytes bytes);
  void record(DriverCall::Kind kind, std::uint32_t range, Bytes offset, Bytes bytes);

  core::SegmentSource* source_;
  Bytes capacity_;
  Bytes inUse_ = 0;
  AllocatorOptions::AddressOrder order_;
  bool recording_;
  std::uint64_t nextAddress_;
  std::vector<Range> ranges_;
  std::vector<bool> held_;  // [range]: the source's, not given back; empty without a source
  std::vector<DriverCall> calls_;
};

}  // namespace vsim::sim
