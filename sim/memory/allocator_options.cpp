#include "sim/memory/allocator_options.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/checked.h"

namespace vsim::sim {
namespace {

using core::fail;
using core::Result;

constexpr Bytes kQuantum = 512;

// Splits at commas outside brackets.
std::vector<std::string> settingsOf(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  std::erase(parts, std::string());
  return parts;
}

Result<std::int64_t> integer(std::string_view text, std::string_view key, std::int64_t largest) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > largest)
    return fail(fmt::format("allocator setting {}: '{}' is not a whole number up to {}", key, text, largest));
  return value;
}

Result<double> number(std::string_view text, std::string_view key) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
    return fail(fmt::format("allocator setting {}: '{}' is not a number >= 0", key, text));
  return value;
}

Result<bool> boolean(std::string_view text, std::string_view key) {
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  return fail(fmt::format("allocator setting {}: '{}' is neither True nor False", key, text));
}

Result<std::int64_t> divisions(std::string_view text) {
  auto value = integer(text, "roundup_power2_divisions", 1 << 20);
  if (value && *value > 0 && !std::has_single_bit(static_cast<std::uint64_t>(*value)))
    return fail(fmt::format("allocator setting roundup_power2_divisions: {} is not a power of two", *value));
  return value;
}

// "[64:8,128:2,>:1]": a named size sets its own bucket (the first one also all below), '>' all above the last
// named one.
Result<void> divisionList(std::string_view list, AllocatorOptions& options) {
  auto& buckets = options.roundupDivisions;
  std::size_t last = 0;
  bool first = true;
  for (const std::string& entry : settingsOf(list)) {
    const auto colon = entry.find(':');
    if (colon == std::string::npos)
      return fail(
          fmt::format("allocator setting roundup_power2_divisions: '{}' is not SIZE:DIVISIONS", entry));
    const auto value = divisions(std::string_view(entry).substr(colon + 1));
    if (!value) return tl::unexpected(value.error());
    const std::string_view size = std::string_view(entry).substr(0, colon);
    if (size == ">") {
      std::fill(buckets.begin() + static_cast<std::ptrdiff_t>(last) + 1, buckets.end(), *value);
      continue;
    }
    const auto mebibytes = integer(size, "roundup_power2_divisions", std::int64_t{1} << 40);
    if (!mebibytes) return tl::unexpected(mebibytes.error());
    if (!std::has_single_bit(static_cast<std::uint64_t>(*mebibytes)))
      return fail(fmt::format("allocator setting roundup_power2_divisions: {} is not a power of two", size));
    const auto bucket = static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(*mebibytes)));
    last = std::min(bucket, buckets.size() - 1);
    if (first) std::fill(buckets.begin(), buckets.begin() + static_cast<std::ptrdiff_t>(last), *value);
    first = false;
    buckets[last] = *value;
  }
  return {};
}

template <class Value, class Target>
Result<void> store(const Result<Value>& value, Target& target, Value factor = Value{1}) {
  if (!value) return tl::unexpected(value.error());
  target = static_cast<Target>(*value * factor);
  return {};
}
Result<void> store(const Result<bool>& value, bool& target) {
  if (!value) return tl::unexpected(value.error());
  target = *value;
  return {};
}

Result<void> apply(const std::string& key, std::string_view value, AllocatorOptions& options) {
  constexpr std::int64_t kLargestMebi = std::int64_t{1} << 40;
  static const std::vector<std::string> kNoEffect = {"backend",
                                                     "release_lock_on_cudamalloc",
                                                     "release_lock_on_hipmalloc",
                                                     "pinned_use_cuda_host_register",
                                                     "pinned_use_hip_host_register",
                                                     "pinned_num_register_threads",
                                                     "pinned_use_background_threads",
                                                     "pinned_reserve_segment_size_mb",
                                                     "graph_capture_record_stream_reuse"};
  if (key == "max_split_size_mb")
    return store(integer(value, key, kLargestMebi), options.maxSplitSize, kMebi);
  if (key == "max_non_split_rounding_mb")
    return store(integer(value, key, kLargestMebi), options.maxNonSplitRounding, kMebi);
  if (key == "large_segment_size_mb")
    return store(integer(value, key, kLargestMebi), options.largeSegmentSize, kMebi);
  if (key == "garbage_collection_threshold")
    return store(number(value, key), options.garbageCollectionThreshold);
  if (key == "per_process_memory_fraction") return store(number(value, key), options.memoryFraction);
  if (key == "expandable_segments") return store(boolean(value, key), options.expandableSegments);
  if (key == "expandable_segments_reserve") return store(number(value, key), options.expandableReserve);
  if (key == "throw_on_cudamalloc_oom") return store(boolean(value, key), options.throwOnDriverOom);
  if (key == "roundup_power2_divisions") {
    if (value.starts_with('[') && value.ends_with(']'))
      return divisionList(value.substr(1, value.size() - 2), options);
    const auto all = divisions(value);
    if (!all) return tl::unexpected(all.error());
    options.roundupDivisions.fill(*all);
    return {};
  }
  if (std::find(kNoEffect.begin(), kNoEffect.end(), key) != kNoEffect.end()) return {};
  const std::string near = core::nearest(
      key, {"max_split_size_mb", "max_non_split_rounding_mb", "large_segment_size_mb",
            "garbage_collection_threshold", "per_process_memory_fraction", "expandable_segments",
            "expandable_segments_reserve", "throw_on_cudamalloc_oom", "roundup_power2_divisions"});
  return fail("unknown allocator setting '" + key + "'", near.empty() ? "" : "did you mean '" + near + "'?");
}

}  // namespace

Result<AllocatorOptions> parseAllocatorOptions(std::string_view text, const AllocatorOptions& base) {
  AllocatorOptions options = base;
  for (const std::string& setting : settingsOf(text)) {
    const auto colon = setting.find(':');
    if (colon == std::string::npos)
      return fail(fmt::format("allocator setting '{}' has no value", setting), "write NAME:VALUE");
    const auto done = apply(setting.substr(0, colon), std::string_view(setting).substr(colon + 1), options);
    if (!done) return tl::unexpected(done.error());
  }
  return options;
}

Bytes roundedSize(Bytes bytes, const AllocatorOptions& options) {
  if (bytes < kQuantum) return kQuantum;
  const auto size = static_cast<std::uint64_t>(bytes);
  const int log2 = 63 - std::countl_zero(size);
  const auto bucket = static_cast<std::size_t>(std::clamp(log2 - 20, 0, 15));
  const std::int64_t divisions = options.roundupDivisions[bucket];
  if (divisions > 1 && bytes > kQuantum * divisions) {
    const Bytes quantum = (Bytes{1} << log2) / divisions;
    return core::roundUp(bytes, quantum);  // exact powers of two stay as they are
  }
  return core::roundUp(bytes, kQuantum);
}

}  // namespace vsim::sim
