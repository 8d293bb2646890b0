#include "core/mesh/redistribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace vsim::core {
namespace {

using Kind = RedistributionKind;

template <class T>
bool holds(const Placement& placement) {
  return std::holds_alternative<T>(placement);
}
bool shards(const Placement& placement, int dim) {
  const auto* shard = std::get_if<Shard>(&placement);
  return shard && shard->dim == dim;
}

/// What every rank of the mesh holds, worked out once.
struct Holdings {
  explicit Holdings(const Sharding& sharding) {
    for (std::int64_t rank = 0; rank < sharding.mesh().ranks(); ++rank) {
      blocks.push_back(sharding.localBlock(rank));
      intervals.push_back(sharding.localInterval(rank));
      held.push_back(heldBlocks(sharding, rank));
    }
  }
  std::vector<TensorBlock> blocks;
  std::vector<Interval> intervals;
  std::vector<std::vector<HeldBlock>> held;
};

class TransferList {
 public:
  TransferList(const Holdings& from, const Holdings& to) : from_(from), to_(to) {}

  void add(std::int64_t fromRank, std::int64_t toRank) {
    const auto f = static_cast<std::size_t>(fromRank), t = static_cast<std::size_t>(toRank);
    const Interval &a = from_.intervals[f], &b = to_.intervals[t];
    if (a.size() == 0 || b.size() == 0) return;
    if (from_.blocks[f].offset == to_.blocks[t].offset && from_.blocks[f].size == to_.blocks[t].size) {
      const std::int64_t begin = std::max(a.begin, b.begin), end = std::min(a.end, b.end);
      if (begin < end)
        push({fromRank,
              toRank,
              {.fromOffset = begin - a.begin, .toOffset = begin - b.begin, .elements = end - begin}});
      return;
    }
    for (const HeldBlock& wanted : to_.held[t])
      for (const HeldBlock& given : from_.held[f])
        for (const CopyRuns& copy : commonRuns(given, wanted)) push({fromRank, toRank, copy});
  }
  std::vector<Transfer> take() { return std::move(transfers_); }

 private:
  void push(const Transfer& next) {
    if (!transfers_.empty()) {
      Transfer& last = transfers_.back();
      CopyRuns& copy = last.copy;
      if (last.fromRank == next.fromRank && last.toRank == next.toRank && copy.runs == 1 &&
          next.copy.runs == 1 && copy.fromOffset + copy.elements == next.copy.fromOffset &&
          copy.toOffset + copy.elements == next.copy.toOffset) {
        copy.elements += next.copy.elements;
        return;
      }
    }
    transfers_.push_back(next);
  }
  const Holdings &from_, &to_;
  std::vector<Transfer> transfers_;
};

std::vector<Transfer> transfersOf(const Sharding& from, const Sharding& to, std::size_t meshDim,
                                  const Holdings& before, const Holdings& after) {
  const CommGroup group = from.mesh().group(meshDim);
  const Placement& old = from.placements()[meshDim];
  TransferList list(before, after);
  for (std::int64_t rank = 0; rank < from.mesh().ranks(); ++rank) {
    if (holds<Replicate>(old)) {
      if (!holds<Partial>(to.placements()[meshDim]) || indexInGroup(group, rank) == 0) list.add(rank, rank);
      continue;
    }
    for (const std::int64_t source : groupRanks(group, rank)) list.add(source, rank);
  }
  return list.take();
}

bool equalParts(const Holdings& holdings, const CommGroup& group) {
  for (std::int64_t rank = 0; rank < static_cast<std::int64_t>(holdings.intervals.size()); ++rank)
    if (holdings.intervals[static_cast<std::size_t>(rank)].size() !=
        holdings.intervals[static_cast<std::size_t>(groupBase(group, rank))].size())
      return false;
  return true;
}

// Whether every rank sends every other one of its group as much.
bool equalExchange(const std::vector<Transfer>& transfers, const CommGroup& group, std::int64_t ranks) {
  std::vector<std::int64_t> volume(static_cast<std::size_t>(ranks * group.size), 0);
  for (const Transfer& transfer : transfers)
    volume[static_cast<std::size_t>(transfer.toRank * group.size + indexInGroup(group, transfer.fromRank))] +=
        transfer.copy.total();
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    for (std::int64_t i = 0; i < group.size; ++i)
      if (volume[static_cast<std::size_t>(rank * group.size + i)] !=
          volume[static_cast<std::size_t>(groupBase(group, rank) * group.size)])
        return false;
  return true;
}

Kind kindOf(const RedistributionStep& step, const Holdings& before, const Holdings& after) {
  const CommGroup group = step.from.mesh().group(step.meshDim);
  const Placement &old = step.from.placements()[step.meshDim], &wanted = step.to.placements()[step.meshDim];
  if (group.size == 1) return Kind::none;
  if (holds<Replicate>(old)) return holds<Partial>(wanted) ? Kind::localPartial : Kind::localSlice;
  if (holds<Partial>(old)) {
    if (holds<Replicate>(wanted)) return Kind::allReduce;
    return equalParts(after, group) ? Kind::reduceScatter : Kind::reduceScatterV;
  }
  if (holds<Replicate>(wanted)) return equalParts(before, group) ? Kind::allGather : Kind::allGatherV;
  // Between two cuts: nothing to do where no element changes its rank.
  const bool stays = std::all_of(step.transfers.begin(), step.transfers.end(),
                                 [](const Transfer& one) { return one.fromRank == one.toRank; });
  if (stays) return Kind::none;
  return equalExchange(step.transfers, group, step.from.mesh().ranks()) ? Kind::allToAll : Kind::allToAllV;
}

/// Changes one mesh dimension at a time and keeps the steps.
class Route {
 public:
  explicit Route(Sharding start) : current_(std::move(start)) {}

  Result<void> change(std::size_t meshDim, const Placement& wanted) {
    std::vector<Placement> placements = current_.placements();
    placements[meshDim] = wanted;
    auto next = Sharding::make(current_.mesh(), current_.shape(), std::move(placements));
    if (!next) return tl::unexpected(next.error());
    RedistributionStep step{.meshDim = meshDim, .from = current_, .to = *next, .transfers = {}};
    const Holdings before(step.from), after(step.to);
    step.transfers = transfersOf(step.from, step.to, meshDim, before, after);
    step.kind = kindOf(step, before, after);
    steps_.push_back(std::move(step));
    current_ = std::move(*next);
    return {};
  }
  [[nodiscard]] const Placement& at(std::size_t meshDim) const { return current_.placements()[meshDim]; }
  [[nodiscard]] std::size_t dims() const { return current_.placements().size(); }
  std::vector<RedistributionStep> take() { return std::move(steps_); }

 private:
  Sharding current_;
  std::vector<RedistributionStep> steps_;
};

// Replicate, Partial and Shard alone: which mesh dimension can change next, by one collective of its groups.
class ShardOrder {
 public:
  ShardOrder(const Route& route, const std::vector<Placement>& target) : route_(route), target_(target) {}

  /// The cheapest change that can be made at once, the inner of equals; nullopt: none can.
  [[nodiscard]] std::optional<std::size_t> direct() const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < target_.size(); ++i)
      if (differs(i) && mayLeave(i) && mayEnter(i) && (!best || costClass(i) <= costClass(*best))) best = i;
    return best;
  }
  /// The innermost shard that has to be opened for another one to get to its place.
  [[nodiscard]] std::size_t misplaced() const {
    for (std::size_t i = target_.size(); i-- > 0;) {
      const auto* shard = std::get_if<Shard>(&route_.at(i));
      if (!shard) continue;
      for (std::size_t j = 0; j <= i; ++j)
        if (shards(route_.at(j), shard->dim) != shards(target_[j], shard->dim)) return i;
    }
    VSIM_CHECK(false, "a redistribution that nothing can continue");
    return 0;
  }

 private:
  [[nodiscard]] bool differs(std::size_t i) const { return route_.at(i) != target_[i]; }
  // Chunks nest: an outer cut of a dimension can change only while no inner one cuts it further.
  [[nodiscard]] bool innermost(std::size_t i, int dim) const {
    for (std::size_t j = i + 1; j < target_.size(); ++j)
      if (shards(route_.at(j), dim)) return false;
    return true;
  }
  [[nodiscard]] bool mayLeave(std::size_t i) const {
    const auto* shard = std::get_if<Shard>(&route_.at(i));
    return !shard || innermost(i, shard->dim);
  }
  [[nodiscard]] bool mayEnter(std::size_t i) const {
    const auto* shard = std::get_if<Shard>(&target_[i]);
    if (!shard) return true;
    for (std::size_t j = 0; j < i; ++j)
      if (shards(route_.at(j), shard->dim) != shards(target_[j], shard->dim)) return false;
    return innermost(i, shard->dim);
  }
  // A Shard cannot become Partial at once: its values are gathered first.
  [[nodiscard]] int costClass(std::size_t i) const {
    const bool toShard = holds<Shard>(target_[i]);
    if (holds<Replicate>(route_.at(i))) return toShard ? 0 : 5;
    if (holds<Partial>(route_.at(i))) return toShard ? 1 : 3;
    return toShard ? 2 : 4;
  }
  const Route& route_;
  const std::vector<Placement>& target_;
};

Result<void> followShards(Route& route, const std::vector<Placement>& target) {
  const ShardOrder order(route, target);
  while (true) {
    bool done = true;
    for (std::size_t i = 0; i < target.size(); ++i) done = done && route.at(i) == target[i];
    if (done) return {};
    const auto next = order.direct();
    const std::size_t dim = next ? *next : order.misplaced();
    const bool gatherFirst = !next || (holds<Shard>(route.at(dim)) && holds<Partial>(target[dim]));
    auto changed = route.change(dim, gatherFirst ? Placement{Replicate{}} : target[dim]);
    if (!changed) return changed;
  }
}

Result<void> checkPair(const Sharding& from, const Sharding& to) {
  if (from.mesh() != to.mesh()) return fail("a redistribution between two meshes");
  if (from.shape() != to.shape()) return fail("a redistribution between two shapes");
  if (!from.raggedDim() || from.raggedDim() != to.raggedDim()) return {};
  for (std::size_t i = 0; i < from.placements().size(); ++i)
    if (i != *from.raggedDim() && from.placements()[i] != to.placements()[i])
      return fail(
          fmt::format("from {} to {} while mesh dimension '{}' goes from {} to {}",
                      text(from.placements()[*from.raggedDim()]), text(to.placements()[*to.raggedDim()]),
                      from.mesh().dims()[i].name, text(from.placements()[i]), text(to.placements()[i])),
          "replicate the ragged mesh dimension first");
  return {};
}

void addVolumes(const RedistributionStep& step, std::vector<RankVolume>& volumes) {
  for (const Transfer& transfer : step.transfers) {
    if (transfer.fromRank == transfer.toRank) continue;
    volumes[static_cast<std::size_t>(transfer.fromRank)].send += transfer.copy.total();
    volumes[static_cast<std::size_t>(transfer.toRank)].receive += transfer.copy.total();
  }
}

}  // namespace

std::vector<RankVolume> RedistributionStep::volumes() const {
  std::vector<RankVolume> result(static_cast<std::size_t>(from.mesh().ranks()));
  addVolumes(*this, result);
  return result;
}

int Redistribution::collectives() const {
  return static_cast<int>(std::count_if(
      steps.begin(), steps.end(), [](const RedistributionStep& step) { return communicates(step.kind); }));
}

std::vector<RankVolume> Redistribution::volumes() const {
  if (steps.empty()) return {};
  std::vector<RankVolume> result(static_cast<std::size_t>(steps.front().from.mesh().ranks()));
  for (const RedistributionStep& step : steps) addVolumes(step, result);
  return result;
}

Result<Redistribution> planRedistribution(const Sharding& from, const Sharding& to) {
  if (auto checked = checkPair(from, to); !checked) return tl::unexpected(checked.error());
  if (from.placements() == to.placements()) return Redistribution{};
  Route route(from);
  const auto change = [&](std::size_t dim, const Placement& wanted) { return route.change(dim, wanted); };
  if (from.raggedDim() && from.raggedDim() == to.raggedDim()) {
    const std::size_t dim = *to.raggedDim();
    if (auto changed = change(dim, to.placements()[dim]); !changed) return tl::unexpected(changed.error());
    return Redistribution{route.take()};
  }
  if (from.raggedDim())
    if (auto changed = change(*from.raggedDim(), Replicate{}); !changed)
      return tl::unexpected(changed.error());
  std::vector<Placement> target = to.placements();
  if (const auto dim = to.raggedDim()) {
    // The ragged cut comes last; a Partial waits for it, to be reduced straight to the intervals.
    target[*dim] = Replicate{};
    if (holds<Partial>(route.at(*dim))) target[*dim] = Partial{};
  }
  if (auto followed = followShards(route, target); !followed) return tl::unexpected(followed.error());
  if (const auto dim = to.raggedDim())
    if (auto changed = change(*dim, to.placements()[*dim]); !changed) return tl::unexpected(changed.error());
  return Redistribution{route.take()};
}

Result<RedistributionStep> planDistribution(const Sharding& to, std::int64_t sourceRank) {
  if (sourceRank < 0 || sourceRank >= to.mesh().ranks())
    return fail(fmt::format("rank {} of a mesh of {}", sourceRank, to.mesh().ranks()));
  auto from = Sharding::make(to.mesh(), to.shape(),
                             std::vector<Placement>(to.placements().size(), Placement{Replicate{}}));
  if (!from) return tl::unexpected(from.error());
  RedistributionStep step{.kind = to.mesh().ranks() > 1 ? Kind::sendReceive : Kind::none,
                          .meshDim = 0,
                          .from = std::move(*from),
                          .to = to,
                          .transfers = {}};
  const Holdings before(step.from), after(to);
  TransferList list(before, after);
  for (std::int64_t rank = 0; rank < to.mesh().ranks(); ++rank) {
    bool zeros = false;
    for (std::size_t i = 0; i < to.placements().size(); ++i)
      zeros = zeros || (holds<Partial>(to.placements()[i]) && to.mesh().coordinate(rank, i) != 0);
    if (!zeros) list.add(sourceRank, rank);
  }
  step.transfers = list.take();
  return step;
}

}  // namespace vsim::core
