#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vsim::core {

enum class CollectiveKind : std::uint8_t { allGather, reduceScatter, allReduce, allToAll, broadcast };
inline constexpr std::string_view kCollectiveNames[] = {"all_gather", "reduce_scatter", "all_reduce",
                                                        "all_to_all", "broadcast"};
enum class ReduceOp : std::uint8_t { none, sum, average };

/// A communicator as one rank sees it: the ranks base + i * stride, i < size, where rank r has
/// base = (r / (size * stride)) * (size * stride) + r % stride.
struct CommGroup {
  std::string name;  // "dp_shard", "dp_replicate", "ep", "efsdp", "tp"
  std::int64_t size = 1;
  std::int64_t stride = 1;
};

}  // namespace vsim::core
