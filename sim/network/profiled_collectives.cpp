#include "sim/network/profiled_collectives.h"

#include <algorithm>
#include <cmath>

namespace vsim::sim {
namespace {

/// Below this size per rank NCCL changes to latency protocols, which terms fitted on large messages do not
/// describe: the model is then the better guide where it is the faster.
constexpr double kSmallBytesPerRank = 512 * 1024;

}  // namespace

ProfiledCollectives::ProfiledCollectives(CollectiveModel model, core::Profile profile)
    : model_(std::move(model)), profile_(std::move(profile)) {
  for (std::size_t i = 0; i < fits_.size(); ++i) {
    fits_[i] = core::fitCollective(profile_, static_cast<core::CollectiveKind>(i));
  }
}

const core::FittedCollective* ProfiledCollectives::fitted(core::CollectiveKind kind) const {
  const auto& fit = fits_[static_cast<std::size_t>(kind)];
  return fit ? &*fit : nullptr;
}

core::Cost ProfiledCollectives::cost(core::CollectiveKind kind, std::int64_t bytes,
                                     const core::CommGroup& group, bool aligned16, core::DType dtype) const {
  const core::Cost modelled = model_.cost(kind, bytes, group, aligned16, dtype);
  if (modelled.time == 0) return modelled;
  const GroupShape shape = groupShape(model_.cluster(), group);
  const Choice choice = model_.explain(kind, bytes, group, aligned16, dtype);
  core::Cost cost = modelled;
  // A point of the same size and group was measured with the alignment it had. Fitted terms describe aligned
  // transfers: a misaligned one pays the model's ratio on top.
  const double penalty =
      aligned16 ? 1 : choice.seconds() / model_.explain(kind, bytes, group, true, dtype).seconds();
  double seconds = 0;
  if (const auto point =
          core::matchCollective(profile_, kind, bytes, shape.ranks, shape.ranksPerDomain, dtype)) {
    seconds = core::secondsFromPicoseconds(point->time);
    cost.provenance = point->provenance;
    cost.relativeError = point->relativeError;
  } else if (const core::FittedCollective* fit = fitted(kind); fit != nullptr && fit->points > 0) {
    const auto prediction = fit->predict(bytes, shape.ranks, shape.ranksPerDomain);
    if (!prediction) return modelled;
    seconds = prediction->seconds * penalty;
    const bool small = static_cast<double>(bytes) / shape.ranks < kSmallBytesPerRank;
    if (small && choice.seconds() < seconds) return modelled;
    cost.provenance = prediction->provenance;
    cost.relativeError = prediction->relativeError;
  } else {
    return modelled;
  }
  seconds = std::max(seconds, choice.bound);
  cost.time = core::picosecondsFromSeconds(seconds + 1e-12);
  cost.slowdown = model_.slowdown(kind, bytes, shape.ranks, choice.channels, seconds);
  return cost;
}

}  // namespace vsim::sim
