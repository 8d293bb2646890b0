#include "app/planned_system.h"

#include <algorithm>

namespace vsim::app {

std::int64_t PlannedSystem::shardElements() const {
  std::int64_t sum = 0;
  for (const PlannedBucket& b : buckets) sum += b.copies * b.layout.shardElements;
  return sum;
}

std::int64_t PlannedSystem::gatheredElements() const {
  std::int64_t most = 0;
  for (const PlannedBucket& b : buckets) most = std::max(most, b.layout.totalElements());
  return most;
}

std::int64_t PlannedSystem::totalElements() const {
  std::int64_t sum = 0;
  for (const PlannedBucket& b : buckets) sum += b.count() * b.layout.unitElements;
  return sum;
}

double PlannedSystem::paddingRatio() const {
  double held = 0, needed = 0;
  for (const PlannedBucket& b : buckets) {
    const auto count = static_cast<double>(b.count());
    held += count * static_cast<double>(b.layout.totalElements());
    needed += count * static_cast<double>(b.layout.unitElements);
  }
  return needed > 0 ? held / needed - 1.0 : 0.0;
}

double PlannedSystem::gapRatio() const {
  double shards = 0, bounds = 0;
  for (const PlannedBucket& b : buckets) {
    shards += static_cast<double>(b.copies) * static_cast<double>(b.layout.shardElements);
    bounds += static_cast<double>(b.copies) * static_cast<double>(b.layout.lowerBound);
  }
  return bounds > 0 ? shards / bounds - 1.0 : 0.0;
}

std::int64_t PlannedSystem::cutTensors() const {
  std::int64_t sum = 0;
  for (const PlannedBucket& b : buckets) sum += b.copies * b.cutTensors;
  return sum;
}

bool PlannedSystem::provenOptimal() const {
  return std::all_of(buckets.begin(), buckets.end(), [](const PlannedBucket& b) { return b.provenOptimal; });
}

}  // namespace vsim::app
