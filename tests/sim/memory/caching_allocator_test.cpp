#include "sim/memory/caching_allocator.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/sim/memory/allocator_script.h"

using namespace vsim;
using sim::Bytes;
using sim::kMebi;

TEST_CASE("allocator settings are read and refused by name") {
  const auto options = sim::parseAllocatorOptions(
      "expandable_segments:True, max_split_size_mb:128,pinned_use_cuda_host_register:True,"
      "roundup_power2_divisions:[64:8,256:4,>:1]");
  REQUIRE(options);
  CHECK(options->expandableSegments);
  CHECK(options->maxSplitSize == 128 * kMebi);
  CHECK(options->roundupDivisions[0] == 8);  // the first entry also holds below
  CHECK(options->roundupDivisions[7] == 0);  // not named: no division
  CHECK(options->roundupDivisions[8] == 4);
  CHECK(options->roundupDivisions[15] == 1);
  const auto wrong = sim::parseAllocatorOptions("expandable_segment:True");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().text().find("expandable_segments") != std::string::npos);
  for (const char* bad : {"max_split_size_mb", "max_split_size_mb:x", "max_split_size_mb:-1",
                          "garbage_collection_threshold:nan", "expandable_segments:maybe",
                          "roundup_power2_divisions:3", "roundup_power2_divisions:[3:4]",
                          "roundup_power2_divisions:[64]", "max_split_size_mb:99999999999999999999"})
    CHECK_FALSE(sim::parseAllocatorOptions(bad));
}

TEST_CASE("empty tensors have no storage, impossible sizes are out of memory") {
  sim::CachingAllocator allocator;
  const auto empty = allocator.allocate(0, 0);
  REQUIRE(empty);
  CHECK(empty->address == 0);
  allocator.recordStream(0, 1);
  allocator.release(0);
  CHECK(allocator.statistics().all.allocation.allocated == 0);
  CHECK_FALSE(allocator.allocate(std::numeric_limits<Bytes>::max(), 0));
  CHECK_THROWS_AS(allocator.release(4096), core::InternalError);
}

TEST_CASE("answers tell what a request cost") {
  sim::AllocatorOptions options;
  options.capacity = 100 * kMebi;
  sim::CachingAllocator allocator(options);
  const auto first = allocator.allocate(60 * kMebi, 0);
  REQUIRE(first);
  CHECK(first->driverCalls == 1);
  CHECK_FALSE(first->waitedForDevice);
  allocator.release(first->address);
  const auto cached = allocator.allocate(60 * kMebi, 0);
  CHECK(cached->driverCalls == 0);
  allocator.release(cached->address);
  const auto other = allocator.allocate(60 * kMebi, 1);  // another stream: the cached block is given back
  REQUIRE(other);
  CHECK(other->driverCalls == 2);
  CHECK(other->waitedForDevice);
  CHECK(allocator.totals().retries == 1);
}

TEST_CASE("a lifted limit lets requests go on") {
  sim::AllocatorOptions options;
  options.capacity = 10 * kMebi;
  sim::CachingAllocator allocator(options);
  CHECK_FALSE(allocator.allocate(20 * kMebi, 0));
  CHECK(allocator.liftLimit());
  CHECK(allocator.allocate(20 * kMebi, 0));
  CHECK(allocator.totals().reserved == 20 * kMebi);
}

namespace {

// What must hold whatever was asked: blocks fill their segments without overlap, the sums are the statistics.
void checkConsistency(const sim::CachingAllocator& allocator) {
  Bytes allocated = 0, active = 0, requested = 0, reserved = 0;
  std::uint64_t end = 0;
  for (const auto& segment : allocator.snapshot()) {
    REQUIRE(segment.address >= end);
    std::uint64_t at = segment.address;
    bool lastFree = false;
    for (const auto& block : segment.blocks) {
      REQUIRE(block.address == at);
      REQUIRE(block.size > 0);
      REQUIRE(block.size % 512 == 0);
      const bool free = block.state == sim::CachingAllocator::BlockState::inactive;
      REQUIRE_FALSE((free && lastFree));  // neighbours were merged
      lastFree = free;
      at += static_cast<std::uint64_t>(block.size);
    }
    end = segment.address + static_cast<std::uint64_t>(segment.size);
    REQUIRE(at == end);
    allocated += segment.allocated;
    active += segment.active;
    requested += segment.requested;
    reserved += segment.size;
  }
  const auto& all = allocator.statistics().all;
  CHECK(all.allocatedBytes.current == allocated);
  CHECK(all.activeBytes.current == active);
  CHECK(all.requestedBytes.current == requested);
  CHECK(all.reservedBytes.current == reserved);
}

std::vector<std::uint64_t> randomRun(const std::string& settings, unsigned seed) {
  sim::AllocatorOptions base;
  base.capacity = 3000 * kMebi;
  sim::CachingAllocator allocator(*sim::parseAllocatorOptions(settings, base));
  std::mt19937 random(seed);
  std::vector<std::uint64_t> issued(4), done(4), live, answers;
  allocator.setProgress([&](core::StreamId s) { return ++issued[s]; },
                        [&](core::StreamId s, std::uint64_t ticket) { return ticket <= done[s]; });
  for (int i = 0; i < 3000; ++i) {
    const unsigned choice = random() % 16;
    if (choice < 8) {
      const Bytes bytes = Bytes{1} << random() % 28;
      const auto block = allocator.allocate(bytes + static_cast<Bytes>(random() % 5000),
                                            static_cast<core::StreamId>(random() % 4));
      answers.push_back(block ? block->address : 1);
      if (block) live.push_back(block->address);
    } else if (choice < 14 && !live.empty()) {
      const std::size_t at = random() % live.size();
      if (choice == 8) allocator.recordStream(live[at], static_cast<core::StreamId>(random() % 4));
      allocator.release(live[at]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (choice == 14) {
      const std::size_t s = random() % 4;
      done[s] = issued[s];
    } else if (random() % 20 == 0) {
      allocator.emptyCache();
    }
    if (i % 100 == 0) checkConsistency(allocator);
  }
  for (const std::uint64_t address : live) allocator.release(address);
  allocator.emptyCache();
  checkConsistency(allocator);
  CHECK(allocator.totals().reserved == 0);
  CHECK(allocator.totals().active == 0);
  CHECK(allocator.statistics().all.inactiveSplitBytes.current == 0);
  return answers;
}

}  // namespace

TEST_CASE("random requests: blocks tile their segments, everything comes back, same answers twice") {
  for (const char* settings :
       {"", "expandable_segments:True", "max_split_size_mb:64", "roundup_power2_divisions:8"})
    for (unsigned seed = 1; seed <= 5; ++seed) {
      INFO(settings << " seed " << seed);
      CHECK(randomRun(settings, seed) == randomRun(settings, seed));
    }
}
