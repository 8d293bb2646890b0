#include <cmath>

#include "core/profile/profile.h"

namespace vsim::core {
namespace {

constexpr double kTolerance = 0.02;

bool sameShape(const ProfiledCollective& point, CollectiveKind kind, std::int64_t ranks,
               std::int64_t ranksPerNode, DType dtype) {
  return point.kind == kind && point.ranks == ranks && point.ranksPerNode == ranksPerNode &&
         (!point.dtype || *point.dtype == dtype);
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

const ProfiledCollective* findCollective(const Profile& profile, CollectiveKind kind, Bytes bytes,
                                         std::int64_t ranks, std::int64_t ranksPerNode, DType dtype,
                                         double tolerance) {
  const ProfiledCollective* best = nullptr;
  double bestDistance = tolerance;
  for (const ProfiledCollective& point : profile.collectives) {
    if (!sameShape(point, kind, ranks, ranksPerNode, dtype)) continue;
    const double distance = std::abs(ratio(bytes, point.bytes) - 1);
    if (distance <= bestDistance && (best == nullptr || distance < bestDistance)) {
      best = &point;
      bestDistance = distance;
    }
  }
  return best;
}

std::optional<Cost> matchCollective(const Profile& profile, CollectiveKind kind, Bytes bytes,
                                    std::int64_t ranks, std::int64_t ranksPerNode, DType dtype) {
  if (bytes <= 0) return std::nullopt;
  if (const ProfiledCollective* point =
          findCollective(profile, kind, bytes, ranks, ranksPerNode, dtype, kTolerance)) {
    return costOf(point->seconds * ratio(bytes, point->bytes), point->origin.provenance,
                  point->origin.relativeError);
  }
  const ProfiledCollective *below = nullptr, *above = nullptr;
  for (const ProfiledCollective& point : profile.collectives) {
    if (!sameShape(point, kind, ranks, ranksPerNode, dtype)) continue;
    if (point.bytes < bytes && (below == nullptr || point.bytes > below->bytes)) below = &point;
    if (point.bytes > bytes && (above == nullptr || point.bytes < above->bytes)) above = &point;
  }
  if (below == nullptr || above == nullptr || ratio(above->bytes, below->bytes) > 4.01) return std::nullopt;
  const double share = std::log(ratio(bytes, below->bytes)) / std::log(ratio(above->bytes, below->bytes));
  const double seconds = below->seconds * std::pow(above->seconds / below->seconds, share);
  return costOf(seconds, Provenance::fitted,
                std::max(below->origin.relativeError, above->origin.relativeError) + 0.03);
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
