#include <algorithm>
#include <cmath>

#include "core/profile/profile.h"

namespace vsim::core {
namespace {

constexpr double kTolerance = 0.02;

bool sameShape(const ProfiledCollective& point, const CollectiveQuery& query) {
  return point.kind == query.kind && point.ranks == query.ranks && point.ranksPerNode == query.ranksPerNode &&
         (!point.dtype || *point.dtype == query.dtype) &&
         (point.anyAlignment || point.aligned == query.aligned);
}

bool sameStride(const ProfiledCollective& point, const CollectiveQuery& query) {
  return point.stride == query.stride || point.nodes() == 1;
}

double ratio(Bytes a, Bytes b) { return static_cast<double>(a) / static_cast<double>(b); }

Cost costOf(double seconds, Provenance provenance, double relativeError) {
  Cost cost;
  cost.time = picosecondsFromSeconds(seconds);
  cost.provenance = provenance;
  cost.relativeError = relativeError;
  return cost;
}

bool agrees(std::int64_t stated, std::int64_t actual) { return stated == 0 || stated == actual; }

bool sameSizes(const ProfiledOperation& point, const Operation& op) {
  return (!point.dtype || *point.dtype == op.dtype) && agrees(point.m, op.m) && agrees(point.n, op.n) &&
         agrees(point.k, op.k) && agrees(point.groups, op.groups) && agrees(point.batch, op.batch) &&
         agrees(point.sequence, op.sequence) && agrees(point.heads, op.heads) &&
         agrees(point.kvHeads, op.kvHeads) && agrees(point.headDim, op.headDim);
}

}  // namespace

const ProfiledCollective* findCollective(const Profile& profile, const CollectiveQuery& query,
                                         double tolerance) {
  const ProfiledCollective* best = nullptr;
  double bestDistance = tolerance;
  for (const ProfiledCollective& point : profile.collectives) {
    if (!sameShape(point, query)) continue;
    const double distance = std::abs(ratio(query.bytes, point.bytes) - 1);
    if (distance > bestDistance) continue;
    const bool nearer = best == nullptr || distance < bestDistance;
    if (nearer || (sameStride(point, query) && !sameStride(*best, query))) {
      best = &point;
      bestDistance = distance;
    }
  }
  return best;
}

namespace {

/// Error of taking the time of a group for one whose ranks are another stride apart.
constexpr double kStrideError = 0.05;

/// As matchCollective, over points of the query's stride or over all the others.
std::optional<Cost> matchOfStride(const Profile& profile, const CollectiveQuery& query, bool same) {
  const ProfiledCollective *exact = nullptr, *below = nullptr, *above = nullptr;
  double distance = kTolerance;
  for (const ProfiledCollective& point : profile.collectives) {
    if (!sameShape(point, query) || sameStride(point, query) != same) continue;
    const double off = std::abs(ratio(query.bytes, point.bytes) - 1);
    if (off <= distance && (exact == nullptr || off < distance)) {
      exact = &point;
      distance = off;
    }
    if (point.bytes < query.bytes && (below == nullptr || point.bytes > below->bytes)) below = &point;
    if (point.bytes > query.bytes && (above == nullptr || point.bytes < above->bytes)) above = &point;
  }
  if (exact != nullptr)
    return costOf(exact->seconds * ratio(query.bytes, exact->bytes),
                  same ? exact->origin.provenance : Provenance::fitted,
                  exact->origin.relativeError + (same ? 0 : kStrideError));
  if (below == nullptr || above == nullptr || ratio(above->bytes, below->bytes) > 4.01) return std::nullopt;
  const double share =
      std::log(ratio(query.bytes, below->bytes)) / std::log(ratio(above->bytes, below->bytes));
  const double seconds = below->seconds * std::pow(above->seconds / below->seconds, share);
  return costOf(
      seconds, Provenance::fitted,
      std::max(below->origin.relativeError, above->origin.relativeError) + 0.03 + (same ? 0 : kStrideError));
}

}  // namespace

std::optional<Cost> matchCollective(const Profile& profile, const CollectiveQuery& query) {
  if (query.bytes <= 0) return std::nullopt;
  if (auto cost = matchOfStride(profile, query, true)) return cost;
  return matchOfStride(profile, query, false);
}

OpKind kindOf(const ProfiledOperation& point) {
  if (point.kind) return *point.kind;
  if (point.m > 0 && point.n > 0 && point.k > 0) return point.groups > 1 ? OpKind::groupedGemm : OpKind::gemm;
  if (point.sequence > 0 && point.headDim > 0)
    return point.name.ends_with(".bwd") ? OpKind::attentionBackward : OpKind::attentionForward;
  return OpKind::memory;
}

std::optional<Cost> matchOperation(const Profile& profile, const Operation& operation) {
  const std::int64_t launches = std::max(1, operation.count);
  const Bytes bytes = (operation.bytesRead + operation.bytesWritten) / launches;
  const ProfiledOperation* scaled = nullptr;
  double scaledDistance = std::log(16.0);
  for (const ProfiledOperation& point : profile.operations) {
    if (point.name != operation.name || !sameSizes(point, operation)) continue;
    if (point.bytes == 0) {
      return costOf(point.seconds * static_cast<double>(launches), point.origin.provenance,
                    point.origin.relativeError);
    }
    if (bytes <= 0) continue;
    const double distance = std::abs(std::log(ratio(bytes, point.bytes)));
    if (distance <= kTolerance) {
      return costOf(point.seconds * ratio(bytes, point.bytes) * static_cast<double>(launches),
                    point.origin.provenance, point.origin.relativeError);
    }
    if (operation.kind == OpKind::memory && distance <= scaledDistance) {
      scaled = &point;
      scaledDistance = distance;
    }
  }
  if (scaled == nullptr) return std::nullopt;
  return costOf(scaled->seconds * ratio(bytes, scaled->bytes) * static_cast<double>(launches),
                Provenance::fitted, scaled->origin.relativeError + 0.05 * scaledDistance);
}

}  // namespace vsim::core
