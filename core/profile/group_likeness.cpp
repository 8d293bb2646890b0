#include "core/profile/group_likeness.h"

#include <algorithm>
#include <cmath>

namespace vsim::core {

double logRatio(std::int64_t a, std::int64_t b) {
  return std::abs(std::log2(static_cast<double>(std::max<std::int64_t>(1, a)) /
                            static_cast<double>(std::max<std::int64_t>(1, b))));
}

double unlikeness(std::int64_t ranks, std::int64_t ranksPerNode, std::int64_t stride,
                  const CollectiveQuery& query) {
  const bool crosses = ranks > ranksPerNode, queryCrosses = query.ranks > query.ranksPerNode;
  return (crosses != queryCrosses ? 1000 : 0) + 2 * logRatio(ranksPerNode, query.ranksPerNode) +
         logRatio(ranks, query.ranks) + (crosses ? 0.1 * logRatio(stride, query.stride) : 0);
}

const ProfiledInterference* nearestInterference(const Profile& profile, const CollectiveQuery& query) {
  const ProfiledInterference* best = nullptr;
  std::pair<double, double> least;
  for (const ProfiledInterference& entry : profile.interference) {
    if (entry.kind != query.kind) continue;
    const bool crosses = entry.ranks > entry.ranksPerNode, queryCrosses = query.ranks > query.ranksPerNode;
    if (crosses != queryCrosses) continue;
    const std::pair distance{unlikeness(entry.ranks, entry.ranksPerNode, query.stride, query),
                             logRatio(entry.bytes, query.bytes)};
    if (best != nullptr && distance >= least) continue;
    best = &entry;
    least = distance;
  }
  return best;
}

}  // namespace vsim::core
