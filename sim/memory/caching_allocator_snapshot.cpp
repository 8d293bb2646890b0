#include <algorithm>

#include "sim/memory/caching_allocator.h"

namespace vsim::sim {

std::optional<CachingAllocator::Place> CachingAllocator::placeOf(std::uint64_t address) const {
  const BlockId id = address == 0 ? kNoBlock : allocated_.find(address);
  if (id == kNoBlock) return std::nullopt;
  const std::uint32_t range = blocks_[id].range;
  return Place{range, static_cast<Bytes>(address - device_.range(range).address)};
}

std::vector<CachingAllocator::SegmentView> CachingAllocator::snapshot() const {
  std::vector<SegmentView> segments;
  for (BlockId head = 0; head < blocks_.size(); ++head) {
    if (!blocks_[head].live || blocks_[head].previous != kNoBlock) continue;
    bool open = false;  // the last segment continues with the next mapped block
    for (BlockId id = head; id != kNoBlock; id = blocks_[id].next) {
      const vsim::sim::Block& block = blocks_[id];
      if (!block.mapped) {
        open = false;
        continue;
      }
      if (!open) {
        SegmentView segment;
        segment.range = block.range;
        segment.address = block.address;
        segment.offset = static_cast<Bytes>(block.address - device_.range(block.range).address);
        segment.stream = block.stream;
        segment.small = block.small;
        segment.expandable = block.expandable;
        segments.push_back(std::move(segment));
        open = true;
      }
      SegmentView& segment = segments.back();
      const BlockState state = block.allocated           ? BlockState::allocated
                               : block.pendingEvents > 0 ? BlockState::awaitingEvents
                                                         : BlockState::inactive;
      segment.blocks.push_back({block.address, block.size, block.requested, state});
      segment.size += block.size;
      if (state == BlockState::allocated) segment.allocated += block.size;
      if (state == BlockState::inactive) continue;
      segment.active += block.size;
      segment.requested += block.requested;
    }
  }
  std::sort(segments.begin(), segments.end(),
            [](const SegmentView& a, const SegmentView& b) { return a.address < b.address; });
  return segments;
}

}  // namespace vsim::sim
