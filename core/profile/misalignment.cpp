#include "core/profile/misalignment.h"

#include <cmath>

#include "core/profile/group_likeness.h"

namespace vsim::core {
namespace {

template <class Curve>
double interpolated(const Curve& curve, double at) {
  const auto above = curve.lower_bound(at);
  if (above == curve.begin()) return above->second;
  if (above == curve.end()) return curve.rbegin()->second;
  const auto below = std::prev(above);
  const double share = (at - below->first) / (above->first - below->first);
  return below->second + share * (above->second - below->second);
}

}  // namespace

Misalignment::Misalignment(const Profile& profile) {
  // Points that serve either way are no comparison: how they were measured is not known.
  std::array<std::map<Group, Profile>, std::size(kCollectiveNames)> aligned;
  const auto groupOf = [](const ProfiledCollective& c) { return Group{c.ranks, c.ranksPerNode, c.stride}; };
  for (const ProfiledCollective& point : profile.collectives)
    if (point.aligned && !point.anyAlignment && point.seconds > 0)
      aligned[static_cast<std::size_t>(point.kind)][groupOf(point)].collectives.push_back(point);
  for (const ProfiledCollective& point : profile.collectives) {
    if (point.aligned || point.anyAlignment || !(point.seconds > 0)) continue;
    const auto kind = static_cast<std::size_t>(point.kind);
    const auto known = aligned[kind].find(groupOf(point));
    if (known == aligned[kind].end()) continue;
    const auto base = matchCollective(known->second, {.kind = point.kind,
                                                      .bytes = point.bytes,
                                                      .ranks = point.ranks,
                                                      .ranksPerNode = point.ranksPerNode,
                                                      .stride = point.stride,
                                                      .dtype = point.dtype.value_or(DType::bf16)});
    if (!base || base->time <= 0) continue;
    curves_[kind][groupOf(point)][std::log2(static_cast<double>(point.bytes))] =
        point.seconds / secondsFromPicoseconds(base->time);
  }
}

std::optional<double> Misalignment::factor(const CollectiveQuery& query) const {
  const Curve* best = nullptr;
  double least = 0;
  for (const auto& [group, curve] : curves_[static_cast<std::size_t>(query.kind)]) {
    const auto& [ranks, perNode, stride] = group;
    const double distance = unlikeness(ranks, perNode, stride, query);
    if (best != nullptr && distance >= least) continue;
    best = &curve;
    least = distance;
  }
  if (best == nullptr || query.bytes <= 0) return std::nullopt;
  return interpolated(*best, std::log2(static_cast<double>(query.bytes)));
}

}  // namespace vsim::core
