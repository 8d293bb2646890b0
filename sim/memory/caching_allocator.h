#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/program/memory_model.h"
#include "sim/memory/address_map.h"
#include "sim/memory/allocator_options.h"
#include "sim/memory/allocator_statistics.h"
#include "sim/memory/block_store.h"
#include "sim/memory/device_memory.h"
#include "sim/memory/free_set.h"

namespace vsim::sim {

/// PyTorch's CUDA caching allocator for one device: the native backend of PyTorch 2.15
/// (c10/cuda/CUDACachingAllocator.cpp), without graph capture, private pools and peer access. The same
/// requests get the same offsets in the same driver allocations, and the same statistics. One thread.
class CachingAllocator : public core::MemoryModel {
 public:
  explicit CachingAllocator(const AllocatorOptions& options = {});
  /// On real memory: segments come from `source`, which outlives the allocator, and go back to it, all of
  /// them at the end. Waits are real: where PyTorch waits for events, setProgress's `completed` is asked
  /// until they have completed; giving a segment back must wait for the device, as cudaFree does. Errors:
  /// expandable segments, which need memory that is mapped page by page.
  [[nodiscard]] static core::Result<std::unique_ptr<CachingAllocator>> onRealMemory(
      const AllocatorOptions& options, core::SegmentSource& source);

  std::optional<Block> allocate(Bytes bytes, core::StreamId stream) override;
  void release(std::uint64_t address) override;
  void recordStream(std::uint64_t address, core::StreamId stream) override;
  /// Without it all work counts as complete at once.
  void setProgress(std::function<std::uint64_t(core::StreamId)> issueTicket,
                   std::function<bool(core::StreamId, std::uint64_t)> completed) override;
  [[nodiscard]] Totals totals() const override;
  bool liftLimit() override;

  /// torch.cuda.empty_cache(): waits for all events, gives unused segments and pages back.
  void emptyCache();
  /// torch.cuda.set_per_process_memory_fraction(); 1 or more: no limit.
  void setMemoryFraction(double fraction) { options_.memoryFraction = fraction; }
  /// Changes the settings named in a PYTORCH_ALLOC_CONF string from now on.
  core::Result<void> configure(std::string_view settings);

  [[nodiscard]] const AllocatorStatistics& statistics() const { return statistics_; }
  [[nodiscard]] const AllocatorOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<DriverCall>& driverCalls() const { return device_.calls(); }

  /// Where an address lies: the number of the driver range, and the offset in it.
  struct Place {
    std::uint32_t range = 0;
    Bytes offset = 0;
  };
  /// nullopt when `address` is not an allocated block's.
  [[nodiscard]] std::optional<Place> placeOf(std::uint64_t address) const;

  enum class BlockState : std::uint8_t { allocated, awaitingEvents, inactive };
  struct BlockView {
    std::uint64_t address = 0;
    Bytes size = 0, requested = 0;  // an inactive block keeps the request of its last use
    BlockState state = BlockState::inactive;
  };
  /// A driver allocation, or a contiguous mapped part of an expandable range.
  struct SegmentView {
    std::uint32_t range = 0;
    std::uint64_t address = 0;
    Bytes offset = 0, size = 0, allocated = 0, active = 0, requested = 0;
    core::StreamId stream = 0;
    bool small = false, expandable = false;
    std::vector<BlockView> blocks;
  };
  /// Like torch.cuda.memory_snapshot(): segments by address.
  [[nodiscard]] std::vector<SegmentView> snapshot() const;

 private:
  CachingAllocator(const AllocatorOptions& options, core::SegmentSource* source);

  struct StreamUse {
    core::StreamId stream = 0;
    std::uint32_t next = kNoBlock;
  };
  struct PendingEvent {
    std::uint64_t ticket = 0;
    BlockId block = 0;
  };
  struct EventQueue {
    std::vector<PendingEvent> events;
    std::size_t head = 0, waitedFor = 0;  // events before `waitedFor` are known to be complete
    [[nodiscard]] bool empty() const { return head == events.size(); }
    void clear() {
      events.clear();
      head = waitedFor = 0;
    }
    void add(const PendingEvent& event) {
      if (head > 4096 && 2 * head > events.size()) {  // a stream that never catches up: drop what is done
        events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(head));
        waitedFor -= std::min(waitedFor, head);
        head = 0;
      }
      events.push_back(event);
    }
  };
  struct Request {
    Bytes size = 0, segmentSize = 0;
    core::StreamId stream = 0;
    bool small = false;
  };
  enum class Outcome : std::uint8_t { got, failed, refused };

  // caching_allocator.cpp: requests, frees, events
  std::optional<BlockId> findFree(const Request& request);
  Outcome obtain(const Request& request, BlockId& block);
  BlockId takeFound(BlockId block, const Request& request, Bytes requested);
  BlockId splitFront(BlockId block, Bytes size);
  void freeBlock(BlockId block);
  Bytes mergeInto(BlockId block, BlockId neighbour);
  void insertEvents(BlockId block);
  void processEvents();
  void processEvents(core::StreamId stream);
  void completeEvent(const PendingEvent& event);
  void waitForAllEvents();

  // caching_allocator_segments.cpp: what is got from and given back to the driver
  Outcome obtainSegment(const Request& request, bool retry, BlockId& block);
  bool releaseOversize(const Request& request);
  void releaseCached();
  void releasePool(bool small);
  void releaseSegment(BlockId block);
  void collectGarbage();
  void deviceDrained();
  [[nodiscard]] bool limited() const { return options_.memoryFraction && *options_.memoryFraction < 1; }
  [[nodiscard]] Bytes allowed() const;

  // caching_allocator_expandable.cpp
  bool obtainExpandable(const Request& request, BlockId& block);
  BlockId findExpandable(const Request& request);
  bool mapFront(BlockId block, Bytes bytes);
  void unmapInside(BlockId block);
  [[nodiscard]] Bytes pageSize(bool small) const;
  [[nodiscard]] Bytes expandableRangeSize(bool small) const;

  BlockId newBlock(const vsim::sim::Block& value);
  void dropBlock(BlockId block);
  void insertFree(BlockId block);
  FreeSet& freeSet(bool small, core::StreamId stream) { return free_[small ? 0 : 1][stream]; }
  UnmappedSet& unmappedSet(bool small, core::StreamId stream) { return unmapped_[small ? 0 : 1][stream]; }
  PoolStatistics& pool(bool small) { return small ? statistics_.smallPool : statistics_.largePool; }

  static constexpr std::size_t kStreams = 256;  // all values of StreamId

  AllocatorOptions options_;
  DeviceMemory device_;
  NodeStore<vsim::sim::Block> blocks_;
  NodeStore<StreamUse> uses_;
  AddressMap allocated_;
  std::array<std::vector<FreeSet>, 2> free_;  // [small, large][stream]
  std::array<std::vector<UnmappedSet>, 2> unmapped_;
  std::array<std::uint64_t, 2> searches_{};
  std::vector<EventQueue> events_;  // [stream]
  std::size_t pendingEvents_ = 0, lastEventStream_ = 0;
  std::function<std::uint64_t(core::StreamId)> issueTicket_;
  std::function<bool(core::StreamId, std::uint64_t)> completed_;
  AllocatorStatistics statistics_;
  bool waited_ = false;  // the current request waited for the device
};

}  // namespace vsim::sim
