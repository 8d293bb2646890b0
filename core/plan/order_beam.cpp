#include "core/plan/order_beam.h"

#include <algorithm>

namespace vsim::core {
namespace {

// splitmix64 (Steele, Lea and Flood 2014): well mixed numbers from 1, 2, 3, ...
std::uint64_t mixed(std::uint64_t n) {
  std::uint64_t z = n * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

OrderBeam::OrderBeam(const CountedProblem& problem, BeamWidth width) : problem_(problem), width_(width) {
  for (std::size_t t = 0; t < problem.types.size(); ++t) {
    keys_.push_back(mixed(t + 1));
    if (problem.types[t].count > problem.types[frequent_].count) frequent_ = t;
  }
  if (width_.stratified && !problem.types.empty())
    strata_ = static_cast<std::size_t>(problem.types[frequent_].count) + 1;
}

bool OrderBeam::small() const {
  const auto types = static_cast<std::int64_t>(problem_.types.size());
  std::int64_t perStratum = problem_.items;  // levels at which a stratum is alive
  if (width_.stratified && types != 0) perStratum -= problem_.types[frequent_].count - 1;
  const __int128 atOnce = static_cast<__int128>(strata_) * width_.kept;
  return atOnce * perStratum <= kMostKept && atOnce * std::max<std::int64_t>(types, 8) <= kMostKept / 2;
}

bool OrderBeam::run(std::int64_t shardElements, std::int64_t devices, SearchBudget& budget) {
  placed_.clear();
  for (const CountedType& type : problem_.types) {
    placed_.emplace_back(type.tensor, shardElements, shardElements % type.tensor.block == 0);
    if (placed_.back().fresh < 0) return false;
  }
  const std::int64_t slack = shardElements * devices - problem_.volume - problem_.trailingVolume;
  if (slack < 0 || problem_.types.empty()) return false;
  trails_.assign(1, {0, 0});
  levelStart_ = 0;
  level_.assign(1, Partial{});
  counts_.assign(problem_.types.size(), 0);
  slots_.resize(strata_ * static_cast<std::size_t>(width_.kept));
  filled_.assign(strata_, 0);
  for (std::int64_t placed = 0; placed < problem_.items; ++placed) {
    grow(slack, budget);
    collect();
    if (level_.empty() || budget.ended()) return false;
  }
  trace(levelStart_);
  return true;
}

void OrderBeam::grow(std::int64_t slack, SearchBudget& budget) {
  const std::size_t types = placed_.size();
  const std::int64_t shard = placed_.front().shard;
  std::int64_t placements = 0;
  lowest_ = strata_;
  highest_ = 0;
  for (std::size_t i = 0; i < level_.size() && placements <= budget.left(); ++i) {
    const Partial& partial = level_[i];
    const std::uint32_t* counts = &counts_[i * types];
    const std::int64_t offset = partial.end % shard, base = partial.end - offset;
    for (std::size_t t = 0; t < types; ++t) {
      if (counts[t] == problem_.types[t].count) continue;
      ++placements;
      const std::int64_t end = placed_[t].end(base, offset);
      const std::int64_t gaps = partial.gaps + (end - partial.end - placed_[t].elements);
      if (gaps > slack) continue;
      const std::size_t stratum = strata_ == 1 ? 0 : counts[frequent_] + (t == frequent_ ? 1 : 0);
      offer(stratum, {.gaps = gaps,
                      .blocks = partial.blocks + placed_[t].block,
                      .end = end,
                      .key = partial.key + keys_[t],
                      .parent = static_cast<std::uint32_t>(i),
                      .type = static_cast<std::uint32_t>(t)});
    }
  }
  budget.spend(placements);
}

void OrderBeam::offer(std::size_t stratum, const Partial& partial) {
  const auto better = [](const Partial& a, const Partial& b) {
    return a.gaps != b.gaps ? a.gaps < b.gaps : a.blocks > b.blocks;
  };
  const auto kept = static_cast<std::size_t>(width_.kept);
  Partial* const slots = &slots_[stratum * kept];
  std::uint32_t& filled = filled_[stratum];
  if (filled == kept && !better(partial, slots[filled - 1])) return;
  lowest_ = std::min(lowest_, stratum);
  highest_ = std::max(highest_, stratum);
  std::uint32_t place = filled;
  for (std::uint32_t i = 0; i < filled; ++i)
    if (slots[i].key == partial.key) {
      if (!better(partial, slots[i])) return;
      place = i;  // replaces the same tensors with wider gaps
      break;
    }
  if (place == filled) {
    if (filled < kept)
      ++filled;
    else
      place = filled - 1;
  }
  for (; place > 0 && better(partial, slots[place - 1]); --place) slots[place] = slots[place - 1];
  slots[place] = partial;
}

void OrderBeam::collect() {
  const std::size_t types = placed_.size(), kept = static_cast<std::size_t>(width_.kept);
  const std::size_t parents = levelStart_;
  level_.clear();
  std::swap(counts_, before_);
  counts_.clear();
  levelStart_ = trails_.size();
  for (std::size_t stratum = lowest_; stratum <= highest_ && stratum < strata_; ++stratum) {
    for (std::size_t i = 0; i < filled_[stratum]; ++i) {
      const Partial& partial = slots_[stratum * kept + i];
      level_.push_back(partial);
      trails_.push_back({static_cast<std::uint32_t>(parents + partial.parent), partial.type});
      const auto from = before_.begin() + static_cast<std::ptrdiff_t>(partial.parent * types);
      counts_.insert(counts_.end(), from, from + static_cast<std::ptrdiff_t>(types));
      ++counts_[counts_.size() - types + partial.type];
    }
    filled_[stratum] = 0;
  }
}

void OrderBeam::trace(std::size_t last) {
  sequence_.clear();
  for (std::size_t i = last; i != 0; i = trails_[i].parent) sequence_.push_back(trails_[i].type);
  std::reverse(sequence_.begin(), sequence_.end());
}

}  // namespace vsim::core
