#include "sim/memory/caching_allocator.h"

#include <thread>

#include "core/base/checked.h"

namespace vsim::sim {
namespace {

using Node = Block;  // CachingAllocator::Block is the interface's answer

constexpr Bytes kSmallLimit = kMebi;          // larger blocks come from the large pool
constexpr Bytes kSmallSegment = 2 * kMebi;    // what a miss in the small pool asks from the driver
constexpr Bytes kMinLargeAlloc = 10 * kMebi;  // from here on a segment is the request rounded
constexpr Bytes kLargeRounding = 2 * kMebi;
constexpr Bytes kMinBlock = 512;
constexpr Bytes kLargestRequest = Bytes{1} << 60;

Bytes segmentSize(Bytes rounded, const AllocatorOptions& options) {
  if (rounded <= kSmallLimit) return kSmallSegment;
  if (rounded < kMinLargeAlloc) return options.largeSegmentSize;
  return core::roundUp(rounded, kLargeRounding);
}

}  // namespace

CachingAllocator::CachingAllocator(const AllocatorOptions& options) : CachingAllocator(options, nullptr) {}

core::Result<std::unique_ptr<CachingAllocator>> CachingAllocator::onRealMemory(
    const AllocatorOptions& options, core::SegmentSource& source) {
  if (options.expandableSegments)
    return core::fail("expandable segments are simulated only: real memory comes in segments of fixed size",
                      "leave expandable_segments out");
  return std::unique_ptr<CachingAllocator>(new CachingAllocator(options, &source));
}

CachingAllocator::CachingAllocator(const AllocatorOptions& options, core::SegmentSource* source)
    : options_(options), device_(options, source) {
  for (auto& sets : free_) sets.resize(kStreams);
  for (auto& sets : unmapped_) sets.resize(kStreams);
  events_.resize(kStreams);
}

void CachingAllocator::setProgress(std::function<std::uint64_t(core::StreamId)> issueTicket,
                                   std::function<bool(core::StreamId, std::uint64_t)> completed) {
  issueTicket_ = std::move(issueTicket);
  completed_ = std::move(completed);
}

core::MemoryModel::Totals CachingAllocator::totals() const {
  const PoolStatistics& all = statistics_.all;
  return {all.allocatedBytes.current, all.activeBytes.current, all.reservedBytes.current,
          statistics_.numAllocRetries};
}

bool CachingAllocator::liftLimit() {
  if (device_.real()) return false;
  options_.capacity = kUnlimited;
  options_.memoryFraction.reset();
  device_.setCapacity(kUnlimited);
  return true;
}

core::Result<void> CachingAllocator::configure(std::string_view settings) {
  auto changed = parseAllocatorOptions(settings, options_);
  if (!changed) return tl::unexpected(changed.error());
  if (device_.real() && changed->expandableSegments)
    return core::fail("expandable segments are simulated only");
  options_ = *changed;
  return {};
}

std::optional<core::MemoryModel::Block> CachingAllocator::allocate(Bytes bytes, core::StreamId stream) {
  if (bytes == 0) return Block{};  // an empty tensor has no storage
  VSIM_CHECK(bytes > 0, "negative size");
  if (bytes > kLargestRequest) {
    ++statistics_.numOoms;
    return std::nullopt;
  }
  const std::int64_t callsBefore = statistics_.numDeviceAlloc + statistics_.numDeviceFree;
  waited_ = false;
  processEvents();

  Request request;
  request.size = roundedSize(bytes, options_);
  request.small = request.size <= kSmallLimit;
  request.stream = stream;
  request.segmentSize = segmentSize(request.size, options_);
  BlockId found = kNoBlock;
  if (const auto cached = findFree(request)) {
    found = *cached;
  } else {
    const Outcome outcome = obtain(request, found);
    if (outcome != Outcome::got) {
      ++(outcome == Outcome::refused ? statistics_.numOomRejections : statistics_.numOoms);
      return std::nullopt;
    }
  }
  const BlockId block = takeFound(found, request, bytes);
  const std::uint64_t address = blocks_[block].address;
  allocated_.insert(address, block);
  return Block{address, statistics_.numDeviceAlloc + statistics_.numDeviceFree - callsBefore, waited_};
}

std::optional<BlockId> CachingAllocator::findFree(const Request& request) {
  if (limited() && options_.garbageCollectionThreshold > 0) ++searches_[request.small ? 0 : 1];
  FreeSet& set = freeSet(request.small, request.stream);
  FreeSet::Cursor at = set.firstOfSize(request.size);
  if (at == FreeSet::end()) return std::nullopt;
  if (blocks_[set.block(at)].expandable) {
    if (options_.expandableSegments) {
      // A block that can grow counts with the size it can grow to: pieces between others are used first.
      const auto reach = [&](FreeSet::Cursor cursor) {
        const Node& block = blocks_[set.block(cursor)];
        return block.size +
               (block.next != kNoBlock && !blocks_[block.next].mapped ? blocks_[block.next].size : 0);
      };
      while (blocks_[set.block(at)].expandable) {
        const FreeSet::Cursor next = set.next(at);
        if (next == FreeSet::end() || reach(next) >= reach(at)) break;
        at = next;
      }
    } else {
      while (at != FreeSet::end() && blocks_[set.block(at)].expandable) at = set.next(at);
      if (at == FreeSet::end()) return std::nullopt;
    }
  }
  const Bytes size = set.size(at);
  if (request.size < options_.maxSplitSize) {
    if (size >= options_.maxSplitSize) return std::nullopt;
  } else if (size >= request.size + options_.maxNonSplitRounding) {
    return std::nullopt;
  }
  const BlockId block = set.block(at);
  set.eraseAt(at);
  return block;
}

CachingAllocator::Outcome CachingAllocator::obtain(const Request& request, BlockId& block) {
  if (limited() && options_.garbageCollectionThreshold > 0) collectGarbage();
  Outcome outcome = obtainSegment(request, false, block);
  if (outcome == Outcome::failed && releaseOversize(request)) outcome = obtainSegment(request, false, block);
  if (outcome == Outcome::failed) {
    releaseCached();
    outcome = obtainSegment(request, true, block);
  }
  return outcome;
}

// Cuts the block when the rest is worth keeping, and makes it allocated.
BlockId CachingAllocator::takeFound(BlockId found, const Request& request, Bytes requested) {
  const bool wasSplit = blocks_[found].isSplit(), expandable = blocks_[found].expandable;
  const Bytes rest = blocks_[found].size - request.size;
  const bool split = request.small || options_.expandableSegments
                         ? rest >= kMinBlock
                         : request.size < options_.maxSplitSize && rest > kSmallLimit;
  PoolStatistics& own = pool(request.small);
  BlockId block = found;
  if (split) {
    block = splitFront(found, request.size);
    insertFree(found);
    if (!expandable) {
      for (PoolStatistics* s : {&statistics_.all, &own}) {
        if (wasSplit) {
          s->inactiveSplitBytes.decrease(request.size);
        } else {
          s->inactiveSplitBytes.increase(rest);
          s->inactiveSplit.increase(1);
        }
      }
    }
  } else if (wasSplit && !expandable) {
    for (PoolStatistics* s : {&statistics_.all, &own}) {
      s->inactiveSplitBytes.decrease(blocks_[found].size);
      s->inactiveSplit.decrease(1);
    }
  }
  Node& taken = blocks_[block];
  taken.allocated = true;
  taken.requested = requested;
  for (PoolStatistics* s : {&statistics_.all, &own}) {
    s->allocation.increase(1);
    s->allocatedBytes.increase(taken.size);
    s->active.increase(1);
    s->activeBytes.increase(taken.size);
    s->requestedBytes.increase(requested);
  }
  if (taken.size >= options_.maxSplitSize) statistics_.oversizeAllocations.increase(1);
  return block;
}

// The first `size` bytes become a new block; `rest` keeps the remainder.
BlockId CachingAllocator::splitFront(BlockId rest, Bytes size) {
  const BlockId front = blocks_.take();
  Node& tail = blocks_[rest];
  Node& head = blocks_[front];
  head.address = tail.address;
  head.size = size;
  head.range = tail.range;
  head.stream = tail.stream;
  head.small = tail.small;
  head.expandable = tail.expandable;
  head.live = true;
  head.previous = tail.previous;
  head.next = rest;
  if (head.previous != kNoBlock) blocks_[head.previous].next = front;
  tail.previous = front;
  tail.address += static_cast<std::uint64_t>(size);
  tail.size -= size;
  return front;
}

void CachingAllocator::release(std::uint64_t address) {
  if (address == 0) return;
  const BlockId id = allocated_.take(address);
  VSIM_CHECK(id != kNoBlock, "release of an address that is not allocated");
  Node& block = blocks_[id];
  block.allocated = false;
  for (PoolStatistics* s : {&statistics_.all, &pool(block.small)}) {
    s->allocation.decrease(1);
    s->allocatedBytes.decrease(block.size);
  }
  if (block.size >= options_.maxSplitSize) statistics_.oversizeAllocations.decrease(1);
  if (block.firstUse != kNoBlock)
    insertEvents(id);
  else
    freeBlock(id);
}

void CachingAllocator::freeBlock(BlockId id) {
  Node& block = blocks_[id];
  const Bytes size = block.size, requested = block.requested;
  std::int64_t splitBlocks = 0;
  Bytes splitBytes = 0;
  for (const BlockId neighbour : {block.previous, block.next}) {
    const Bytes absorbed = mergeInto(id, neighbour);
    splitBlocks -= absorbed > 0 ? 1 : 0;
    splitBytes -= absorbed;
  }
  insertFree(id);
  if (block.isSplit()) {
    ++splitBlocks;
    splitBytes += block.size;
  }
  for (PoolStatistics* s : {&statistics_.all, &pool(block.small)}) {
    if (!block.expandable) {
      splitBlocks > 0 ? s->inactiveSplit.increase(splitBlocks) : s->inactiveSplit.decrease(-splitBlocks);
      splitBytes > 0 ? s->inactiveSplitBytes.increase(splitBytes)
                     : s->inactiveSplitBytes.decrease(-splitBytes);
    }
    s->active.decrease(1);
    s->activeBytes.decrease(size);
    s->requestedBytes.decrease(requested);
  }
}

// Answers the bytes of the neighbour that `id` absorbed; 0 when they cannot be merged.
Bytes CachingAllocator::mergeInto(BlockId id, BlockId neighbour) {
  if (neighbour == kNoBlock) return 0;
  Node& block = blocks_[id];
  const Node& other = blocks_[neighbour];
  if (!other.isFree() || other.mapped != block.mapped) return 0;
  if (other.mapped)
    freeSet(other.small, other.stream).erase(blocks_, neighbour);
  else
    unmappedSet(other.small, other.stream).erase(blocks_, neighbour);
  if (block.previous == neighbour) {
    block.address = other.address;
    block.previous = other.previous;
    if (block.previous != kNoBlock) blocks_[block.previous].next = id;
  } else {
    block.next = other.next;
    if (block.next != kNoBlock) blocks_[block.next].previous = id;
  }
  const Bytes absorbed = other.size;
  block.size += absorbed;
  dropBlock(neighbour);
  return absorbed;
}

void CachingAllocator::recordStream(std::uint64_t address, core::StreamId stream) {
  if (address == 0) return;
  const BlockId id = allocated_.find(address);
  VSIM_CHECK(id != kNoBlock, "recordStream of an address that is not allocated");
  Node& block = blocks_[id];
  if (stream == block.stream) return;
  for (std::uint32_t use = block.firstUse; use != kNoBlock; use = uses_[use].next)
    if (uses_[use].stream == stream) return;
  const std::uint32_t use = uses_.take();
  uses_[use] = {stream, block.firstUse};
  block.firstUse = use;
}

void CachingAllocator::insertEvents(BlockId id) {
  Node& block = blocks_[id];
  std::uint32_t use = block.firstUse;
  block.firstUse = kNoBlock;
  while (use != kNoBlock) {
    const StreamUse here = uses_[use];
    uses_.giveBack(use);
    use = here.next;
    events_[here.stream].add({issueTicket_ ? issueTicket_(here.stream) : 0, id});
    lastEventStream_ = std::max<std::size_t>(lastEventStream_, here.stream);
    ++block.pendingEvents;
    ++pendingEvents_;
  }
}

// PyTorch walks a hash table of streams here. The order is visible only in the peak of inactive_split_bytes;
// this one (the default stream, then from the last side stream down) agrees with the recorded training steps.
void CachingAllocator::processEvents() {
  if (pendingEvents_ == 0) return;
  processEvents(0);
  for (std::size_t stream = lastEventStream_; stream > 0; --stream)
    processEvents(static_cast<core::StreamId>(stream));
}

void CachingAllocator::processEvents(core::StreamId stream) {
  EventQueue& queue = events_[stream];
  while (!queue.empty()) {
    const PendingEvent event = queue.events[queue.head];
    if (queue.head >= queue.waitedFor && completed_ && !completed_(stream, event.ticket)) break;
    ++queue.head;
    completeEvent(event);
  }
  if (queue.empty()) queue.clear();
}

void CachingAllocator::completeEvent(const PendingEvent& event) {
  --pendingEvents_;
  if (--blocks_[event.block].pendingEvents == 0) freeBlock(event.block);
}

void CachingAllocator::waitForAllEvents() {
  ++statistics_.numSyncAllStreams;
  waited_ |= pendingEvents_ > 0;
  for (std::size_t stream = 0; stream < events_.size(); ++stream) {
    EventQueue& queue = events_[stream];
    while (!queue.empty()) {
      const PendingEvent event = queue.events[queue.head];
      if (device_.real() && completed_)
        while (!completed_(static_cast<core::StreamId>(stream), event.ticket)) std::this_thread::yield();
      ++queue.head;
      completeEvent(event);
    }
    queue.clear();
  }
}

BlockId CachingAllocator::newBlock(const Node& value) {
  const BlockId id = blocks_.take();
  blocks_[id] = value;
  blocks_[id].live = true;
  return id;
}

void CachingAllocator::dropBlock(BlockId id) { blocks_.giveBack(id); }

void CachingAllocator::insertFree(BlockId id) {
  Node& block = blocks_[id];
  block.searchesAtInsertion = searches_[block.small ? 0 : 1];
  freeSet(block.small, block.stream).insert(blocks_, id);
}

}  // namespace vsim::sim
