#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/memory/caching_allocator.h"

namespace vsim::test {

/// Plays short programs on an allocator: "m a 3M s1" (allocate, K and M are binary, "10M-1" works), "f a",
/// "r a 0" (record on stream 0), "c 0" (work queued on stream 0 completes), "e" (empty the cache), separated
/// by ';'.
class AllocatorScript {
 public:
  explicit AllocatorScript(const std::string& settings = {}, sim::Bytes capacity = sim::kUnlimited,
                           std::optional<double> fraction = {});
  /// Answers whether every allocation succeeded.
  bool play(const std::string& text);
  /// "allocated/active/requested/reserved/segments/inactive_split_bytes(count)"
  [[nodiscard]] std::string state() const;
  [[nodiscard]] const sim::AllocatorStatistics& statistics() const { return allocator_.statistics(); }
  sim::CachingAllocator& allocator() { return allocator_; }

 private:
  bool one(const std::vector<std::string>& words);

  sim::CachingAllocator allocator_;
  std::vector<std::uint64_t> issued_ = std::vector<std::uint64_t>(256), done_ = issued_;
  std::map<std::string, std::uint64_t> addresses_;
};

}  // namespace vsim::test
