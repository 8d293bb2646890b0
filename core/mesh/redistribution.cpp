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
  /// Whether the ranks of every group hold as much as each other.
  [[nodiscard]] bool equalParts(const CommGroup& group) const {
    for (std::int64_t rank = 0; rank < static_cast<std::int64_t>(intervals.size()); ++rank)
      if (intervals[static_cast<std::size_t>(rank)].size() !=
          intervals[static_cast<std::size_t>(groupBase(group, rank))].size())
        return false;
    return true;
  }
  std::vector<TensorBlock> blocks;
  std::vector<Interval> intervals;
  std::vector<std::vector<HeldBlock>> held;
};

/// Fills the transfers and volumes of a step.
class Exchange {
 public:
  Exchange(RedistributionStep& step, TransferDetail detail)
      : step_(step), detail_(detail), from_(step.from), to_(step.to) {
    step.volumes.resize(static_cast<std::size_t>(step.from.mesh().ranks()));
  }

  /// Lets a rank send another all that they share; returns how many elements that is.
  std::int64_t add(std::int64_t fromRank, std::int64_t toRank) {
    const auto f = static_cast<std::size_t>(fromRank), t = static_cast<std::size_t>(toRank);
    const Interval &a = from_.intervals[f], &b = to_.intervals[t];
    std::int64_t total = 0;
    if (a.size() == 0 || b.size() == 0) return total;
    if (from_.blocks[f].offset == to_.blocks[t].offset && from_.blocks[f].size == to_.blocks[t].size) {
      const std::int64_t begin = std::max(a.begin, b.begin), end = std::min(a.end, b.end);
      if (begin >= end) return total;
      total = end - begin;
      push({fromRank,
            toRank,
            {.fromOffset = begin - a.begin, .toOffset = begin - b.begin, .elements = total}});
    } else {
      for (const HeldBlock& wanted : to_.held[t])
        for (const HeldBlock& given : from_.held[f])
          for (const CopyRuns& copy : commonRuns(given, wanted)) {
            total += copy.total();
            push({fromRank, toRank, copy});
          }
    }
    if (fromRank != toRank) {
      step_.volumes[f].send += total;
      step_.volumes[t].receive += total;
    }
    return total;
  }

  /// All transfers of the groups of the step's mesh dimension.
  void addGroups() {
    const CommGroup group = step_.from.mesh().group(step_.meshDim);
    const Placement& old = step_.from.placements()[step_.meshDim];
    const bool toPartial = holds<Partial>(step_.to.placements()[step_.meshDim]);
    std::vector<std::int64_t> firstPair(step_.volumes.size(), -1);
    for (std::int64_t rank = 0; rank < step_.from.mesh().ranks(); ++rank) {
      if (holds<Replicate>(old)) {
        if (!toPartial || indexInGroup(group, rank) == 0) add(rank, rank);
        continue;
      }
      std::int64_t& expected = firstPair[static_cast<std::size_t>(groupBase(group, rank))];
      for (const std::int64_t source : groupRanks(group, rank)) {
        const std::int64_t total = add(source, rank);
        if (expected < 0) expected = total;
        equalPairs_ = equalPairs_ && total == expected;
      }
    }
  }

  [[nodiscard]] Kind kind() const {
    const CommGroup group = step_.from.mesh().group(step_.meshDim);
    const Placement &old = step_.from.placements()[step_.meshDim],
                    &wanted = step_.to.placements()[step_.meshDim];
    if (group.size == 1) return Kind::none;
    if (holds<Replicate>(old)) return holds<Partial>(wanted) ? Kind::localPartial : Kind::localSlice;
    if (holds<Partial>(old)) {
      if (holds<Replicate>(wanted)) return Kind::allReduce;
      return to_.equalParts(group) ? Kind::reduceScatter : Kind::reduceScatterV;
    }
    if (holds<Replicate>(wanted)) return from_.equalParts(group) ? Kind::allGather : Kind::allGatherV;
    // Between two cuts: nothing to do where no element changes its rank.
    const bool stays = std::all_of(step_.volumes.begin(), step_.volumes.end(),
                                   [](const RankVolume& volume) { return volume == RankVolume{}; });
    if (stays) return Kind::none;
    return equalPairs_ ? Kind::allToAll : Kind::allToAllV;
  }

 private:
  void push(const Transfer& next) {
    if (detail_ == TransferDetail::volumesOnly) return;
    if (!step_.transfers.empty()) {
      Transfer& last = step_.transfers.back();
      CopyRuns& copy = last.copy;
      if (last.fromRank == next.fromRank && last.toRank == next.toRank && copy.runs == 1 &&
          next.copy.runs == 1 && copy.fromOffset + copy.elements == next.copy.fromOffset &&
          copy.toOffset + copy.elements == next.copy.toOffset) {
        copy.elements += next.copy.elements;
        return;
      }
    }
    step_.transfers.push_back(next);
  }

  RedistributionStep& step_;
  TransferDetail detail_;
  Holdings from_, to_;
  bool equalPairs_ = true;  // every rank sends every one of its group, itself too, as much
};

/// Changes one mesh dimension at a time and keeps the steps.
class Route {
 public:
  Route(Sharding start, TransferDetail detail) : current_(std::move(start)), detail_(detail) {}

  Result<void> change(std::size_t meshDim, const Placement& wanted) {
    std::vector<Placement> placements = current_.placements();
    placements[meshDim] = wanted;
    auto next = Sharding::make(current_.mesh(), current_.shape(), std::move(placements));
    if (!next) return tl::unexpected(next.error());
    RedistributionStep step{
        .meshDim = meshDim, .from = current_, .to = *next, .transfers = {}, .volumes = {}};
    Exchange exchange(step, detail_);
    exchange.addGroups();
    step.kind = exchange.kind();
    steps_.push_back(std::move(step));
    current_ = std::move(*next);
    return {};
  }
  [[nodiscard]] const Placement& at(std::size_t meshDim) const { return current_.placements()[meshDim]; }
  [[nodiscard]] std::size_t dims() const { return current_.placements().size(); }
  std::vector<RedistributionStep> take() { return std::move(steps_); }

 private:
  Sharding current_;
  TransferDetail detail_;
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

}  // namespace

int Redistribution::collectives() const {
  return static_cast<int>(std::count_if(
      steps.begin(), steps.end(), [](const RedistributionStep& step) { return communicates(step.kind); }));
}

std::vector<RankVolume> Redistribution::volumes() const {
  if (steps.empty()) return {};
  std::vector<RankVolume> result(steps.front().volumes.size());
  for (const RedistributionStep& step : steps)
    for (std::size_t rank = 0; rank < result.size(); ++rank) {
      result[rank].send += step.volumes[rank].send;
      result[rank].receive += step.volumes[rank].receive;
    }
  return result;
}

Result<Redistribution> planRedistribution(const Sharding& from, const Sharding& to, TransferDetail detail) {
  if (auto checked = checkPair(from, to); !checked) return tl::unexpected(checked.error());
  if (from.placements() == to.placements()) return Redistribution{};
  Route route(from, detail);
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
                          .transfers = {},
                          .volumes = {}};
  Exchange exchange(step, TransferDetail::transfersAndVolumes);
  for (std::int64_t rank = 0; rank < to.mesh().ranks(); ++rank) {
    bool zeros = false;
    for (std::size_t i = 0; i < to.placements().size(); ++i)
      zeros = zeros || (holds<Partial>(to.placements()[i]) && to.mesh().coordinate(rank, i) != 0);
    if (!zeros) exchange.add(sourceRank, rank);
  }
  return step;
}

}  // namespace vsim::core
