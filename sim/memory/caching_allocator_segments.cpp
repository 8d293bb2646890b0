#include <cmath>

#include "sim/memory/caching_allocator.h"

namespace vsim::sim {

Bytes CachingAllocator::allowed() const {
  return static_cast<Bytes>(std::floor(*options_.memoryFraction * static_cast<double>(options_.capacity)));
}

CachingAllocator::Outcome CachingAllocator::obtainSegment(const Request& request, bool retry,
                                                          BlockId& block) {
  if (retry) ++statistics_.numAllocRetries;
  const Bytes reserved = statistics_.all.reservedBytes.current;
  if (limited()) {
    if (request.segmentSize > allowed() - reserved) return Outcome::failed;
  } else if (options_.throwOnDriverOom && request.segmentSize > options_.capacity - reserved) {
    return Outcome::refused;
  }
  if (options_.expandableSegments) return obtainExpandable(request, block) ? Outcome::got : Outcome::failed;
  const auto range = device_.allocate(request.segmentSize);
  if (!range) return Outcome::failed;
  vsim::sim::Block whole;
  whole.address = device_.range(*range).address;
  whole.size = request.segmentSize;
  whole.range = *range;
  whole.stream = request.stream;
  whole.small = request.small;
  block = newBlock(whole);
  for (PoolStatistics* s : {&statistics_.all, &pool(request.small)}) {
    s->segment.increase(1);
    s->reservedBytes.increase(request.segmentSize);
  }
  if (request.segmentSize >= options_.maxSplitSize) statistics_.oversizeSegments.increase(1);
  ++statistics_.numDeviceAlloc;
  return Outcome::got;
}

// With a finite maxSplitSize: gives back cached blocks above it, one that is large enough or several from the
// largest down.
bool CachingAllocator::releaseOversize(const Request& request) {
  if (options_.maxSplitSize == kUnlimited) return false;
  FreeSet& set = freeSet(request.small, request.stream);
  const Bytes wanted = std::max(request.size, options_.maxSplitSize);
  FreeSet::Cursor at = set.firstOfSize(wanted);
  if (at != FreeSet::end() && !blocks_[set.block(at)].expandable) {
    releaseSegment(set.block(at));
    return true;
  }
  std::vector<BlockId> chosen;
  Bytes released = 0;
  for (at = set.previous(at); at != FreeSet::end() && released < wanted; at = set.previous(at)) {
    if (set.size(at) < options_.maxSplitSize) break;
    if (blocks_[set.block(at)].expandable) continue;
    released += set.size(at);
    chosen.push_back(set.block(at));
  }
  for (const BlockId id : chosen) releaseSegment(id);
  return released >= wanted;
}

void CachingAllocator::releaseCached() {
  waitForAllEvents();
  releasePool(false);
  releasePool(true);
}

void CachingAllocator::emptyCache() { releaseCached(); }

void CachingAllocator::releasePool(bool small) {
  std::vector<BlockId> whole, expandable;  // releasing changes the sets that are walked
  for (const FreeSet& set : free_[small ? 0 : 1]) {
    for (auto at = set.begin(); at != FreeSet::end(); at = set.next(at)) {
      const BlockId id = set.block(at);
      if (blocks_[id].expandable)
        expandable.push_back(id);
      else if (!blocks_[id].isSplit())
        whole.push_back(id);
    }
  }
  for (const BlockId id : whole) releaseSegment(id);
  for (const BlockId id : expandable) unmapInside(id);
}

void CachingAllocator::releaseSegment(BlockId id) {
  const vsim::sim::Block block = blocks_[id];
  freeSet(block.small, block.stream).erase(blocks_, id);
  device_.release(block.range);
  deviceDrained();  // cudaFree waits for all work
  for (PoolStatistics* s : {&statistics_.all, &pool(block.small)}) {
    s->segment.decrease(1);
    s->reservedBytes.decrease(block.size);
  }
  if (block.size >= options_.maxSplitSize) statistics_.oversizeSegments.decrease(1);
  ++statistics_.numDeviceFree;
  dropBlock(id);
}

void CachingAllocator::deviceDrained() {
  waited_ = true;
  if (pendingEvents_ == 0) return;
  for (EventQueue& queue : events_) queue.waitedFor = queue.events.size();
}

// Frees unsplit large blocks that have not been used for at least the average number of searches, until the
// reserved bytes are back under the threshold or nothing more can be freed.
void CachingAllocator::collectGarbage() {
  const auto threshold =
      static_cast<Bytes>(options_.garbageCollectionThreshold * static_cast<double>(allowed()));
  const Bytes reserved = statistics_.all.reservedBytes.current;
  if (reserved <= threshold) return;
  const Bytes target = reserved - threshold;
  const auto age = [&](const vsim::sim::Block& block) {
    return static_cast<double>(searches_[1] - block.searchesAtInsertion);
  };
  double totalAge = 0;
  std::vector<BlockId> candidates;
  for (const FreeSet& set : free_[1]) {
    for (auto at = set.begin(); at != FreeSet::end(); at = set.next(at)) {
      if (blocks_[set.block(at)].isSplit()) continue;
      totalAge += age(blocks_[set.block(at)]);
      candidates.push_back(set.block(at));
    }
  }
  Bytes reclaimed = 0;
  bool freed = true;
  while (reclaimed < target && freed && !candidates.empty()) {
    const double average = totalAge / static_cast<double>(candidates.size());
    std::vector<BlockId> kept;
    for (const BlockId id : candidates) {
      if (blocks_[id].expandable || age(blocks_[id]) < average) {
        kept.push_back(id);
        continue;
      }
      reclaimed += blocks_[id].size;
      totalAge -= age(blocks_[id]);
      releaseSegment(id);
    }
    freed = kept.size() < candidates.size();
    candidates = std::move(kept);
  }
}

}  // namespace vsim::sim
