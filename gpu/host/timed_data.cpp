#include "gpu/host/timed_data.h"

#include <algorithm>

#include "core/base/checked.h"
#include "gpu/rounding.h"

namespace vsim::gpu {

TimedRounds timedRounds(const core::Collective& collective, std::size_t members) {
  using core::CollectiveKind;
  const auto floats = [&](std::int64_t elements) {
    constexpr std::int64_t kFloat = sizeof(float);
    return isFloating(collective.dtype)
               ? elements
               : core::ceilDivide(elements * core::bytesOf(collective.dtype), kFloat);
  };
  const auto n = static_cast<std::int64_t>(members);
  // What a round is made of: `part` elements that go to, or come from, each member.
  const bool whole =
      collective.kind == CollectiveKind::allReduce || collective.kind == CollectiveKind::broadcast;
  const std::int64_t largest = floats(std::max(collective.sendElements, collective.receiveElements));
  const std::int64_t part = whole ? largest : core::ceilDivide(largest, n);
  const std::int64_t limit = std::max<std::int64_t>(1, whole ? kTimedRoundFloats : kTimedRoundFloats / n);
  TimedRounds result;
  const std::int64_t rounds = std::max<std::int64_t>(1, core::ceilDivide(part, limit));
  const auto one = static_cast<std::size_t>(core::ceilDivide(part, rounds));
  result.rounds = static_cast<std::uint64_t>(rounds);
  result.sent = whole || collective.kind == CollectiveKind::allGather ? one : one * members;
  result.received = whole || collective.kind == CollectiveKind::reduceScatter ? one : one * members;
  return result;
}

}  // namespace vsim::gpu
