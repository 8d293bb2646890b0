#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/mesh/blocks.h"
#include "core/mesh/sharding.h"

namespace vsim::core {

/// What one step of a redistribution is on the groups of its mesh dimension. The `V` kinds move different
/// numbers of elements from or to different ranks.
enum class RedistributionKind : std::uint8_t {
  none,          // every rank keeps what it has
  localSlice,    // every rank copies a part of what it has
  localPartial,  // the first rank of each group keeps the value, the others hold zeros
  allGather,
  allGatherV,
  allToAll,
  allToAllV,
  reduceScatter,
  reduceScatterV,
  allReduce,
  sendReceive,  // one rank sends to each other one
};
inline constexpr std::string_view kRedistributionNames[] = {
    "none",         "local_slice",    "local_partial",    "all_gather", "all_gather_v", "all_to_all",
    "all_to_all_v", "reduce_scatter", "reduce_scatter_v", "all_reduce", "send_receive"};
/// Whether ranks exchange anything.
[[nodiscard]] constexpr bool communicates(RedistributionKind kind) {
  return kind > RedistributionKind::localPartial;
}

/// Elements that go from one rank's flat local tensor to another's, or stay with a rank (from = to).
struct Transfer {
  std::int64_t fromRank = 0, toRank = 0;
  CopyRuns copy;
};

/// What one rank sends to and receives from others, in elements.
struct RankVolume {
  std::int64_t send = 0, receive = 0;
  friend bool operator==(const RankVolume&, const RankVolume&) = default;
};

/// One mesh dimension's change of placement: one collective (or none) on each group of that dimension.
struct RedistributionStep {
  RedistributionKind kind = RedistributionKind::none;
  std::size_t meshDim = 0;
  Sharding from, to;
  /// Ordered by receiving rank, then by sender. In a reduction every summand is a transfer: those to the same
  /// place add up (a ring moves less than an all-reduce's transfers say; its cost is not told here).
  std::vector<Transfer> transfers;
  /// One entry a rank of the mesh.
  std::vector<RankVolume> volumes;

  [[nodiscard]] bool reduces() const {
    return kind == RedistributionKind::reduceScatter || kind == RedistributionKind::reduceScatterV ||
           kind == RedistributionKind::allReduce;
  }
};

/// Steps in order; the first starts at the old placement, the last ends at the new one.
struct Redistribution {
  std::vector<RedistributionStep> steps;
  [[nodiscard]] int collectives() const;
  /// Sum over the steps, one entry a rank; empty without steps.
  [[nodiscard]] std::vector<RankVolume> volumes() const;
};

/// A gather has a transfer for each pair of ranks: ten billion bytes of them on 10,000 ranks. Volumes alone
/// take the time, not the memory.
enum class TransferDetail : std::uint8_t { transfersAndVolumes, volumesOnly };

/// The way from one placement to another on the same mesh, one mesh dimension at a time:
/// - ragged to ragged on one mesh dimension: the intersections of the intervals (all-to-all-v; nothing when
///   the intervals agree);
/// - ragged to anything else: all-gather-v, then as from Replicate;
/// - Replicate to ragged or Shard: a local slice; Replicate to Partial: the first rank keeps it;
/// - Shard to ragged: as to Replicate, then a local slice;
/// - Partial to ragged or Shard: reduce-scatter(-v) straight to the parts; to Replicate: all-reduce;
/// - Shard to Shard: all-to-all; to Replicate: all-gather. Nested shards of one tensor dimension are opened
///   inner first.
/// Equal parts take the equal-size collective. Results are bit-exact but for the sums.
/// Errors: another mesh or shape; two ragged placements on the same mesh dimension while other placements
/// differ.
/// Source: volcengine/veScale (vescale/dtensor, revision 20cf5c71) for the routes; it reduces Partial to
/// ragged by an all-reduce and a slice, with the same values.
[[nodiscard]] Result<Redistribution> planRedistribution(
    const Sharding& from, const Sharding& to, TransferDetail detail = TransferDetail::transfersAndVolumes);

/// Placing a tensor that one rank holds whole (flat, row-major): it sends every rank its part, one after the
/// other. A Partial placement gets the value on the first rank of its group and zeros on the others.
/// `from` of the step is `to` with everything replicated. Error: a rank outside the mesh.
[[nodiscard]] Result<RedistributionStep> planDistribution(const Sharding& to, std::int64_t sourceRank);

}  // namespace vsim::core
