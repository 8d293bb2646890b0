#include "core/plan/count_program.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"

namespace vsim::core {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
// States between two looks at the budget.
constexpr std::int64_t kStretch = 1 << 16;

}  // namespace

Feasibility CountProgram::run(std::int64_t shardElements, std::int64_t d, std::int64_t devices,
                              SearchBudget& budget) {
  placed_.clear();
  strides_.clear();
  std::int64_t stride = 1;
  for (const CountedType& type : problem_.types) {
    placed_.emplace_back(type.tensor, shardElements, d % type.tensor.block == 0);
    if (placed_.back().fresh < 0) return Feasibility::No;
    strides_.push_back(stride);
    stride *= type.count + 1;
  }
  const std::int64_t total = shardElements * devices;
  if (problem_.volume + problem_.trailingVolume > total) return Feasibility::No;
  if (!budget.affords(cost())) return Feasibility::Unknown;
  ends_.assign(static_cast<std::size_t>(states_), kNone);
  if (!fill(total, budget)) return Feasibility::Unknown;
  if (ends_.back() == kNone) return Feasibility::No;
  if (ends_.back() > total - problem_.trailingVolume) return Feasibility::Unknown;
  trace();
  return Feasibility::Yes;
}

bool CountProgram::fill(std::int64_t total, SearchBudget& budget) {
  const std::size_t types = placed_.size();
  const std::int64_t shard = types == 0 ? 1 : placed_.front().shard;
  const std::int64_t slack = total - problem_.volume;
  std::vector<std::int64_t> counts(types, 0);
  std::int64_t volume = 0, placements = 0;
  ends_.front() = 0;
  for (std::int64_t state = 0; state < states_; ++state) {
    if (const std::int64_t end = ends_[static_cast<std::size_t>(state)]; end != kNone) {
      const std::int64_t offset = end % shard, base = end - offset;
      for (std::size_t t = 0; t < types; ++t) {
        if (counts[t] == problem_.types[t].count) continue;
        ++placements;
        const std::int64_t next = placed_[t].end(base, offset);
        if (next - volume - placed_[t].elements > slack) continue;
        std::int64_t& known = ends_[static_cast<std::size_t>(state + strides_[t])];
        known = std::min(known, next);
      }
    }
    for (std::size_t t = 0; t < types; ++t) {
      volume += placed_[t].elements;
      if (++counts[t] <= problem_.types[t].count) break;
      volume -= counts[t] * placed_[t].elements;
      counts[t] = 0;
    }
    if (state % kStretch == kStretch - 1) {
      budget.spend(placements);
      placements = 0;
      if (budget.ended()) return false;
    }
  }
  budget.spend(placements);
  return true;
}

void CountProgram::trace() {
  const std::int64_t shard = placed_.empty() ? 1 : placed_.front().shard;
  std::vector<std::int64_t> counts;
  for (const CountedType& type : problem_.types) counts.push_back(type.count);
  sequence_.clear();
  for (std::int64_t state = states_ - 1; state > 0;) {
    const auto comesFrom = [&](std::size_t t) {
      if (counts[t] == 0) return false;
      const std::int64_t before = ends_[static_cast<std::size_t>(state - strides_[t])];
      return before != kNone && placed_[t].end(before - before % shard, before % shard) ==
                                    ends_[static_cast<std::size_t>(state)];
    };
    std::size_t t = 0;
    while (t < placed_.size() && !comesFrom(t)) ++t;
    VSIM_CHECK(t < placed_.size(), "an end that was reached comes from none");
    sequence_.push_back(static_cast<std::uint32_t>(t));
    --counts[t];
    state -= strides_[t];
  }
  std::reverse(sequence_.begin(), sequence_.end());
}

}  // namespace vsim::core
