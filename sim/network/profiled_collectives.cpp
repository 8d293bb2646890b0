#include "sim/network/profiled_collectives.h"

#include <algorithm>
#include <cmath>

namespace vsim::sim {
namespace {

/// Below this size per rank NCCL changes to latency protocols, which terms fitted on large messages do not
/// describe: the model is then the better guide where it is the faster.
constexpr double kSmallBytesPerRank = 512 * 1024;

/// Added to the error of an aligned figure that a factor carries over to misaligned data.
constexpr double kMeasuredFactorError = 0.05;
constexpr double kModelledFactorError = 0.1;

/// Collectives between threads and processes of one machine that nothing was measured of: a rendezvous of a
/// few microseconds per doubling of the ranks (futex wake-ups), and every byte that the node's ranks receive
/// is read and written once. Right within a factor of two.
constexpr double kProcessorRendezvous = 5e-6;
constexpr double kProcessorError = 0.5;

double processorSeconds(const core::ClusterHardware& cluster, const GroupShape& shape,
                        core::CollectiveKind kind, std::int64_t bytes) {
  const double payload = busBytes(kind, bytes, shape.ranks);
  double seconds = kProcessorRendezvous * std::log2(static_cast<double>(shape.ranks));
  if (cluster.gpu.hbmBytesPerSecond > 0)
    seconds += 2 * payload * shape.ranksPerDomain / cluster.gpu.hbmBytesPerSecond;
  if (shape.acrossDomains() && shape.nicBytesPerSecond > 0)
    seconds += payload * shape.ranksPerDomain / shape.nicBytesPerSecond;
  return seconds;
}

}  // namespace

ProfiledCollectives::ProfiledCollectives(CollectiveModel model, core::Profile profile)
    : model_(std::move(model)), profile_(std::move(profile)), misalignment_(profile_) {
  for (std::size_t i = 0; i < fits_.size(); ++i) {
    fits_[i] = core::fitCollective(profile_, static_cast<core::CollectiveKind>(i));
  }
}

const core::FittedCollective* ProfiledCollectives::fitted(core::CollectiveKind kind) const {
  const auto& fit = fits_[static_cast<std::size_t>(kind)];
  return fit ? &*fit : nullptr;
}

std::optional<core::Locality> ProfiledCollectives::missingLevel(const core::CommGroup& group) const {
  if (!profile_.hardware || group.size < 2) return std::nullopt;
  const GroupShape shape = groupShape(model_.cluster(), group);
  const std::array<bool, 3> crosses{shape.ranksPerDomain > 1, shape.acrossDomains(), shape.crossesSpine};
  for (std::size_t level = 0; level < crosses.size(); ++level) {
    const auto& missing = profile_.hardware->missing;
    const auto locality = static_cast<core::Locality>(level);
    if (crosses[level] && std::find(missing.begin(), missing.end(), locality) != missing.end())
      return locality;
  }
  return std::nullopt;
}

core::Cost ProfiledCollectives::modelled(core::CollectiveKind kind, std::int64_t bytes,
                                         const core::CommGroup& group, bool aligned16,
                                         core::DType dtype) const {
  if (!onProcessors()) return model_.cost(kind, bytes, group, aligned16, dtype);
  core::Cost cost;
  if (group.size <= 1 || bytes <= 0) return cost;
  const GroupShape shape = groupShape(model_.cluster(), group);
  cost.time = core::picosecondsFromSeconds(processorSeconds(model_.cluster(), shape, kind, bytes));
  cost.relativeError = kProcessorError;
  return cost;
}

std::optional<ProfiledCollectives::Estimate> ProfiledCollectives::fromProfile(
    const core::CollectiveQuery& query, double modelledPenalty) const {
  if (const auto point = core::matchCollective(profile_, query))
    return Estimate{core::secondsFromPicoseconds(point->time), point->relativeError, point->provenance,
                    false};
  double factor = 1, factorError = 0;
  core::CollectiveQuery aligned = query;
  aligned.aligned = true;
  if (!query.aligned) {
    const auto measured = misalignment_.factor(query);
    factor = measured.value_or(modelledPenalty);
    factorError = measured ? kMeasuredFactorError : kModelledFactorError;
    if (const auto point = core::matchCollective(profile_, aligned))
      return Estimate{core::secondsFromPicoseconds(point->time) * factor, point->relativeError + factorError,
                      core::Provenance::fitted, false};
  }
  const core::FittedCollective* fit = fitted(query.kind);
  if (fit == nullptr || fit->points == 0) return std::nullopt;
  const auto prediction = fit->predict(query.bytes, query.ranks, query.ranksPerNode);
  if (!prediction) return std::nullopt;
  return Estimate{prediction->seconds * factor, prediction->relativeError, prediction->provenance, true};
}

core::Cost ProfiledCollectives::cost(core::CollectiveKind kind, std::int64_t bytes,
                                     const core::CommGroup& group, bool aligned16, core::DType dtype) const {
  core::Cost cost = modelled(kind, bytes, group, aligned16, dtype);
  if (cost.time == 0) return cost;
  const GroupShape shape = groupShape(model_.cluster(), group);
  const Choice choice = onProcessors() ? Choice{} : model_.explain(kind, bytes, group, aligned16, dtype);
  const core::CollectiveQuery query{.kind = kind,
                                    .bytes = bytes,
                                    .ranks = shape.ranks,
                                    .ranksPerNode = shape.ranksPerDomain,
                                    .stride = std::max<std::int64_t>(1, group.stride),
                                    .dtype = dtype,
                                    .aligned = aligned16};
  const double penalty = aligned16 || onProcessors()
                             ? 1
                             : choice.seconds() / model_.explain(kind, bytes, group, true, dtype).seconds();
  if (const auto estimate = fromProfile(query, penalty)) {
    const bool small = static_cast<double>(bytes) / shape.ranks < kSmallBytesPerRank;
    const bool latencyBound =
        estimate->fromTerms && small && !onProcessors() && choice.seconds() < estimate->seconds;
    if (!latencyBound) {
      const double seconds = std::max(estimate->seconds, choice.bound);
      cost.time = core::picosecondsFromSeconds(seconds + 1e-12);
      cost.provenance = estimate->provenance;
      cost.relativeError = estimate->relativeError;
      if (!onProcessors())
        cost.slowdown = model_.slowdown(kind, bytes, shape.ranks, choice.channels, seconds);
    }
  }
  if (const core::ProfiledInterference* measured = core::nearestInterference(profile_, query)) {
    cost.slowdown = measured->computeSlowdown;
    cost.stretch = measured->stretch;
  }
  if (missingLevel(group)) {
    cost.provenance = core::Provenance::modelled;
    cost.relativeError = std::hypot(cost.relativeError, kUnmeasuredLevelError);
  }
  return cost;
}

}  // namespace vsim::sim
