#include "gui/model/allocator_map.h"

#include <algorithm>

#include "sim/memory/caching_allocator.h"

namespace vsim::gui {

using core::Bytes;
using core::Index;

/// Feeds the events to an allocator and notes what its driver does.
class AllocatorReplay::Player {
 public:
  Player(AllocatorReplay& out, const MemoryLimit& limit)
      : out_(out),
        curve_(out.lifetimes_.curve()),
        program_(*curve_.log().program),
        allocator_(optionsFor(limit)),
        addresses_(program_.buffers.size()) {}

  /// False: nothing further can be replayed.
  bool play(std::int64_t index) {
    const core::MemoryEvent& e = curve_.events()[static_cast<std::size_t>(index)];
    if (e.buffer >= addresses_.size()) return true;
    std::uint64_t& address = addresses_[e.buffer];
    if (!e.allocate) {
      if (address != 0) allocator_.release(address);
      address = 0;
    } else {
      if (address != 0) allocator_.release(address);
      const Bytes before = allocator_.totals().allocated;
      const auto block = request(index, program_.buffers[e.buffer]);
      if (!block) return false;
      address = block->address;
      place(index, {address, allocator_.totals().allocated - before});
    }
    followDriver(index, e.allocate ? address : 0, program_.buffers[e.buffer]);
    const auto now = allocator_.totals();
    if (out_.differsFrom_ < 0 &&
        (now.allocated != e.allocated || now.active != e.active || now.reserved != e.reserved))
      out_.differsFrom_ = index;
    return true;
  }

 private:
  static sim::AllocatorOptions optionsFor(const MemoryLimit& limit) {
    sim::AllocatorOptions options;
    if (limit.board > 0) options.capacity = limit.allocator();
    options.recordDriverCalls = true;
    return options;
  }

  std::optional<core::MemoryModel::Block> request(std::int64_t index, const core::Buffer& buffer) {
    const Bytes bytes = std::max<Bytes>(0, buffer.bytes());
    auto block = allocator_.allocate(bytes, buffer.stream);
    if (block) return block;
    if (!out_.failure_)
      out_.failure_ = Failure{index, curve_.events()[static_cast<std::size_t>(index)].buffer, bytes};
    allocator_.liftLimit();
    return allocator_.allocate(bytes, buffer.stream);
  }

  /// Lifetimes stand in the order in which they begin, those before the log first.
  void place(std::int64_t index, const Place& at) {
    const auto& all = out_.lifetimes_.all();
    while (next_ < all.size() && all[next_].begin < index) ++next_;
    if (next_ < all.size() && all[next_].begin == index) out_.places_[next_] = at;
  }

  void followDriver(std::int64_t index, std::uint64_t address, const core::Buffer& buffer) {
    const auto& calls = allocator_.driverCalls();
    for (; seenCalls_ < calls.size(); ++seenCalls_) {
      const sim::DriverCall& call = calls[seenCalls_];
      if (call.kind == sim::DriverCall::Kind::free) {
        out_.segments_[segmentOfRange_[call.range]].end = index;
      } else if (call.kind == sim::DriverCall::Kind::malloc) {
        // The request that made the driver act got its block in the new range.
        const auto at = allocator_.placeOf(address);
        if (segmentOfRange_.size() <= call.range) segmentOfRange_.resize(call.range + 1);
        segmentOfRange_[call.range] = out_.segments_.size();
        const std::uint64_t base = at ? address - static_cast<std::uint64_t>(at->offset) : address;
        out_.segments_.push_back(
            {base, call.bytes, index, kNeverFreed, buffer.stream, call.bytes <= kSmallSegment});
      }
    }
  }

  static constexpr Bytes kSmallSegment =
      2 * sim::kMebi;  // what small requests take from the driver at a time

  AllocatorReplay& out_;
  const MemoryCurve& curve_;
  const core::StepProgram& program_;
  sim::CachingAllocator allocator_;
  std::vector<std::uint64_t> addresses_;  // [buffer]; 0: not live
  std::vector<std::size_t> segmentOfRange_;
  std::size_t seenCalls_ = 0, next_ = 0;
};

AllocatorReplay::AllocatorReplay(const Lifetimes& lifetimes, const MemoryLimit& limit,
                                 const std::atomic<bool>* cancelled)
    : lifetimes_(lifetimes), places_(lifetimes.all().size()) {
  Player player(*this, limit);
  for (; end_ < lifetimes.curve().size(); ++end_) {
    if (end_ % 65536 == 0 && cancelled != nullptr && *cancelled) return;
    if (!player.play(end_)) return;
  }
}

AllocatorMap AllocatorReplay::mapAfter(std::int64_t event) const {
  AllocatorMap map;
  map.event = event = std::min(event, end_ - 1);
  for (const Segment& s : segments_) {
    if (s.begin > event) break;
    if (s.end > event) map.segments.push_back({s.address, s.size, 0, s.stream, s.small, {}});
  }
  std::vector<std::int64_t> live = lifetimes_.liveAfter(event);
  const auto byAddress = [&](std::int64_t a, std::int64_t b) { return address(a) < address(b); };
  std::sort(live.begin(), live.end(), byAddress);
  std::sort(map.segments.begin(), map.segments.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  auto next = live.begin();
  for (AllocatorMap::Segment& segment : map.segments) {
    const std::uint64_t end = segment.address + static_cast<std::uint64_t>(segment.size);
    std::uint64_t at = segment.address;
    const auto addFree = [&](std::uint64_t until) {
      if (until <= at) return;
      const auto size = static_cast<Bytes>(until - at);
      segment.blocks.push_back({at, size, 0, -1});
      map.free += size;
      map.largestFree = std::max(map.largestFree, size);
      ++map.freeBlocks;
    };
    while (next != live.end() && address(*next) < segment.address) ++next;
    for (; next != live.end() && address(*next) < end; ++next) {
      const Bytes asked = lifetimes_.curve()
                              .log()
                              .program->buffers[lifetimes_.all()[static_cast<std::size_t>(*next)].buffer]
                              .bytes();
      addFree(address(*next));
      segment.blocks.push_back({address(*next), size(*next), asked, *next});
      segment.allocated += size(*next);
      map.rounding += size(*next) - asked;
      at = address(*next) + static_cast<std::uint64_t>(size(*next));
    }
    addFree(end);
    map.reserved += segment.size;
    map.allocated += segment.allocated;
  }
  return map;
}

std::size_t AllocatorReplay::bytes() const {
  return segments_.capacity() * sizeof(Segment) + places_.capacity() * sizeof(Place);
}

}  // namespace vsim::gui
