#include <cmath>

#include "core/base/checked.h"
#include "sim/memory/caching_allocator.h"

namespace vsim::sim {

Bytes CachingAllocator::pageSize(bool small) const { return small ? 2 * kMebi : options_.largeSegmentSize; }

Bytes CachingAllocator::expandableRangeSize(bool small) const {
  constexpr Bytes kLargestRange = Bytes{1} << 44;  // stands in for "a little more than the device"
  const double wanted = options_.expandableReserve * static_cast<double>(options_.capacity);
  const Bytes page = pageSize(small);
  if (wanted >= static_cast<double>(kLargestRange)) return core::roundUp(kLargestRange, page);
  return static_cast<Bytes>(std::ceil(wanted / static_cast<double>(page))) * page;
}

bool CachingAllocator::obtainExpandable(const Request& request, BlockId& found) {
  BlockId candidate = findExpandable(request);
  if (candidate == kNoBlock) return false;
  if (!blocks_[candidate].mapped && !mapFront(candidate, std::min(blocks_[candidate].size, request.size)))
    return false;
  // Now: free block, unmapped block, ...; mapping the second merges it with the first.
  while (blocks_[candidate].size < request.size) {
    const BlockId next = blocks_[candidate].next;
    const Bytes missing = request.size - blocks_[candidate].size;
    if (!mapFront(next, std::min(missing, blocks_[next].size))) return false;
    candidate = next;
  }
  freeSet(request.small, request.stream).erase(blocks_, candidate);
  found = candidate;
  return true;
}

// The first run of free and unmapped blocks that can hold the request, else a new range.
BlockId CachingAllocator::findExpandable(const Request& request) {
  const auto available = [&](BlockId id) { return id != kNoBlock && blocks_[id].isFree(); };
  UnmappedSet& unmapped = unmappedSet(request.small, request.stream);
  for (const BlockId id : unmapped.ids()) {
    const BlockId before = blocks_[id].previous;
    const BlockId start = available(before) ? before : id;
    Bytes bytes = 0;
    for (BlockId at = start; bytes < request.size && available(at); at = blocks_[at].next)
      bytes += blocks_[at].size;
    if (bytes >= request.size) return start;
  }
  const Bytes size = expandableRangeSize(request.small);
  const std::uint32_t range = device_.reserve(size);
  if (size < request.size) {
    device_.freeAddresses(range);
    return kNoBlock;
  }
  vsim::sim::Block whole;
  whole.address = device_.range(range).address;
  whole.size = size;
  whole.range = range;
  whole.stream = request.stream;
  whole.small = request.small;
  whole.mapped = false;
  whole.expandable = true;
  const BlockId id = newBlock(whole);
  unmapped.insert(blocks_, id);
  return id;
}

// Maps the first `bytes`, rounded up to whole pages, of an unmapped block and merges them with free
// neighbours.
bool CachingAllocator::mapFront(BlockId id, Bytes bytes) {
  const bool small = blocks_[id].small;
  const core::StreamId stream = blocks_[id].stream;
  const std::uint32_t range = blocks_[id].range;
  const Bytes page = pageSize(small), mapped = core::roundUp(bytes, page);
  const auto offset = static_cast<Bytes>(blocks_[id].address - device_.range(range).address);
  if (!device_.map(range, offset, mapped, page)) return false;
  unmappedSet(small, stream).erase(blocks_, id);
  if (mapped < blocks_[id].size) {
    vsim::sim::Block rest = blocks_[id];
    rest.address += static_cast<std::uint64_t>(mapped);
    rest.size -= mapped;
    rest.previous = id;
    rest.requested = 0;
    const BlockId restId = newBlock(rest);
    if (rest.next != kNoBlock) blocks_[rest.next].previous = restId;
    blocks_[id].next = restId;
    blocks_[id].size = mapped;
    unmappedSet(small, stream).insert(blocks_, restId);
  }
  blocks_[id].mapped = true;
  mergeInto(id, blocks_[id].previous);
  mergeInto(id, blocks_[id].next);
  insertFree(id);
  for (PoolStatistics* s : {&statistics_.all, &pool(small)}) s->reservedBytes.increase(mapped);
  ++statistics_.numDeviceAlloc;
  return true;
}

// Gives the whole pages inside a free block back; a range without mapped pages is given back altogether.
void CachingAllocator::unmapInside(BlockId id) {
  const vsim::sim::Block whole = blocks_[id];
  const Bytes page = pageSize(whole.small);
  const auto start = static_cast<Bytes>(whole.address - device_.range(whole.range).address);
  const Bytes first = core::roundUp(start, page);
  const Bytes last = (start + whole.size) / page * page;
  if (first >= last) return;

  waited_ = true;  // the stream is synchronised first
  EventQueue& queue = events_[whole.stream];
  queue.waitedFor = queue.events.size();
  device_.unmap(whole.range, first, last - first);
  freeSet(whole.small, whole.stream).erase(blocks_, id);
  if (first > start) {
    vsim::sim::Block before = whole;
    before.size = first - start;
    before.next = id;
    before.requested = 0;
    const BlockId beforeId = newBlock(before);
    if (before.previous != kNoBlock) blocks_[before.previous].next = beforeId;
    blocks_[id].previous = beforeId;
    insertFree(beforeId);
  }
  if (last < start + whole.size) {
    vsim::sim::Block after = whole;
    after.address += static_cast<std::uint64_t>(last - start);
    after.size = start + whole.size - last;
    after.previous = id;
    after.requested = 0;
    const BlockId afterId = newBlock(after);
    if (after.next != kNoBlock) blocks_[after.next].previous = afterId;
    blocks_[id].next = afterId;
    insertFree(afterId);
  }
  blocks_[id].address = whole.address + static_cast<std::uint64_t>(first - start);
  blocks_[id].size = last - first;
  blocks_[id].mapped = false;
  mergeInto(id, blocks_[id].previous);
  mergeInto(id, blocks_[id].next);
  unmappedSet(whole.small, whole.stream).insert(blocks_, id);
  for (PoolStatistics* s : {&statistics_.all, &pool(whole.small)}) s->reservedBytes.decrease(last - first);
  ++statistics_.numDeviceFree;
  if (!blocks_[id].isSplit()) {
    unmappedSet(whole.small, whole.stream).erase(blocks_, id);
    device_.freeAddresses(whole.range);
    dropBlock(id);
  }
}

}  // namespace vsim::sim
