#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/base/units.h"

namespace vsim::sim {

using core::Bytes;

inline constexpr Bytes kMebi = Bytes{1} << 20;
inline constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max();

/// Settings of PyTorch's CUDA caching allocator (names and defaults of PYTORCH_ALLOC_CONF, PyTorch 2.15).
/// All sizes in bytes.
struct AllocatorOptions {
  enum class AddressOrder : std::uint8_t { ascending, descending };

  Bytes capacity = kUnlimited;           // of the device, for this allocator
  std::optional<double> memoryFraction;  // of the capacity; 1 or more means no limit
  Bytes maxSplitSize = kUnlimited;
  Bytes maxNonSplitRounding = 20 * kMebi;
  Bytes largeSegmentSize = 20 * kMebi;
  std::array<std::int64_t, 16> roundupDivisions{};  // per power-of-two bucket of MiB; 0 or 1: off
  double garbageCollectionThreshold = 0;            // fraction of the allowed memory; 0: off
  bool expandableSegments = false;
  double expandableReserve = 1.125;  // address range of an expandable segment over the capacity
  bool throwOnDriverOom = false;     // throw_on_cudamalloc_oom
  AddressOrder addressOrder = AddressOrder::ascending;  // where the driver puts new ranges
  bool recordDriverCalls = false;                       // keep a list of all calls, for tests and traces
};

/// Reads a PYTORCH_ALLOC_CONF string ("expandable_segments:True,max_split_size_mb:128") on top of `base`.
/// Settings that concern host memory or timing alone are accepted and change nothing. Errors name the
/// setting.
core::Result<AllocatorOptions> parseAllocatorOptions(std::string_view text,
                                                     const AllocatorOptions& base = {});

/// Bytes of a block that serves a request of `bytes` (at most 2^62): a multiple of 512.
[[nodiscard]] Bytes roundedSize(Bytes bytes, const AllocatorOptions& options);

}  // namespace vsim::sim
