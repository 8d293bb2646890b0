// The allocator on segments of a source: real addresses, capacity of the source, waits that are real.

#include <catch2/catch.hpp>

#include <map>
#include <random>

#include "sim/memory/caching_allocator.h"

using namespace vsim;
using sim::CachingAllocator;
using sim::kMebi;

namespace {

/// Memory up to a limit, at addresses that are used again.
class Source : public core::SegmentSource {
 public:
  explicit Source(core::Bytes limit) : limit_(limit) {}
  std::optional<std::uint64_t> obtain(core::Bytes bytes) override {
    if (taken + bytes > limit_) return std::nullopt;
    std::uint64_t address = kFirst;
    for (const auto& [at, size] : held) {
      if (address + static_cast<std::uint64_t>(bytes) <= at) break;
      address = at + static_cast<std::uint64_t>(size);
    }
    held[address] = bytes;
    taken += bytes;
    ++obtained;
    return address;
  }
  void giveBack(std::uint64_t address) override {
    REQUIRE(held.contains(address));
    taken -= held[address];
    held.erase(address);
    if (onGiveBack) onGiveBack();
  }
  [[nodiscard]] bool holds(std::uint64_t address, core::Bytes bytes) const {
    auto after = held.upper_bound(address);
    if (after == held.begin()) return false;
    const auto& [at, size] = *--after;
    return address + static_cast<std::uint64_t>(bytes) <= at + static_cast<std::uint64_t>(size);
  }

  std::map<std::uint64_t, core::Bytes> held;
  core::Bytes taken = 0;
  int obtained = 0;
  std::function<void()> onGiveBack;

 private:
  static constexpr std::uint64_t kFirst = 0x7f0000000000;
  core::Bytes limit_;
};

}  // namespace

TEST_CASE("real memory: random requests lie inside the source's segments and never over each other") {
  Source source(400 * kMebi);
  std::mt19937 random(3);
  {
    const auto made = CachingAllocator::onRealMemory({}, source);
    REQUIRE(made);
    CachingAllocator& memory = **made;
    std::map<std::uint64_t, core::Bytes> live;
    int failures = 0;
    for (int i = 0; i < 4000; ++i) {
      if (random() % 5 < 2 && !live.empty()) {
        const auto victim = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
        memory.release(victim->first);
        live.erase(victim);
        continue;
      }
      const auto bytes = static_cast<core::Bytes>(1 + random() % (random() % 4 == 0 ? 30'000'000 : 300'000));
      const auto block = memory.allocate(bytes, static_cast<core::StreamId>(random() % 3));
      if (!block) {
        ++failures;
        continue;
      }
      REQUIRE(source.holds(block->address, bytes));
      const auto [at, added] = live.emplace(block->address, bytes);
      REQUIRE(added);
      if (at != live.begin()) {
        const auto before = std::prev(at);
        REQUIRE(before->first + static_cast<std::uint64_t>(before->second) <= block->address);
      }
      if (const auto after = std::next(at); after != live.end())
        REQUIRE(block->address + static_cast<std::uint64_t>(bytes) <= after->first);
      REQUIRE(memory.totals().reserved == source.taken);
    }
    CHECK(failures > 0);
    CHECK(memory.totals().retries > 0);
    for (const auto& [address, bytes] : live) memory.release(address);
    memory.emptyCache();
    CHECK(source.taken == 0);
    REQUIRE(memory.allocate(1000, 0));
  }
  CHECK(source.taken == 0);  // what is left goes back with the allocator
}

TEST_CASE("real memory: without a limit of its own the allocator does what it does on simulated memory") {
  Source source(core::Bytes{1} << 40U);
  const auto real = CachingAllocator::onRealMemory({}, source);
  REQUIRE(real);
  CachingAllocator simulated;
  std::mt19937 random(11);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> live;
  for (int i = 0; i < 3000; ++i) {
    if (random() % 2 == 0 && !live.empty()) {
      const std::size_t victim = random() % live.size();
      (*real)->release(live[victim].first);
      simulated.release(live[victim].second);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
    } else {
      const auto bytes = static_cast<core::Bytes>(1 + random() % 9'000'000);
      live.emplace_back((*real)->allocate(bytes, 0)->address, simulated.allocate(bytes, 0)->address);
      const auto a = (*real)->placeOf(live.back().first), b = simulated.placeOf(live.back().second);
      REQUIRE((a && b && a->range == b->range && a->offset == b->offset));
    }
  }
}

TEST_CASE("real memory: a retry waits for the work of other streams before memory is used again") {
  Source source(24 * kMebi);
  const auto made = CachingAllocator::onRealMemory({}, source);
  REQUIRE(made);
  CachingAllocator& memory = **made;
  int asked = 0;
  bool finished = false;
  memory.setProgress([](core::StreamId) { return std::uint64_t{1}; },
                     [&](core::StreamId stream, std::uint64_t ticket) {
                       CHECK(stream == 1);
                       CHECK(ticket == 1);
                       finished = ++asked > 5;
                       return finished;
                     });
  source.onGiveBack = [&] { CHECK(finished); };
  const auto block = memory.allocate(20 * kMebi, 0);
  REQUIRE(block);
  memory.recordStream(block->address, 1);
  memory.release(block->address);
  const auto again = memory.allocate(22 * kMebi, 0);
  REQUIRE(again);
  CHECK(finished);
  CHECK(memory.totals().retries == 1);
}

TEST_CASE("real memory: expandable segments are refused, limits stay") {
  Source source(100 * kMebi);
  sim::AllocatorOptions expandable;
  expandable.expandableSegments = true;
  const auto made = CachingAllocator::onRealMemory(expandable, source);
  REQUIRE(!made);
  CHECK(made.error().message.find("expandable") != std::string::npos);
  const auto memory = CachingAllocator::onRealMemory({}, source);
  REQUIRE(memory);
  CHECK(!(*memory)->configure("expandable_segments:True"));
  CHECK(!(*memory)->liftLimit());
  CHECK(!(*memory)->allocate(101 * kMebi, 0));
}
