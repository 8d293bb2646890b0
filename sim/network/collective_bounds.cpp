#include <algorithm>

#include "sim/network/collective_model.h"

namespace vsim::sim {

using core::CollectiveKind;

double busBytes(CollectiveKind kind, std::int64_t bytes, int ranks) {
  if (ranks <= 1 || bytes <= 0) return 0;
  const double size = static_cast<double>(bytes);
  const double share = static_cast<double>(ranks - 1) / ranks;
  switch (kind) {
    case CollectiveKind::allReduce:
      return 2 * size * share;
    case CollectiveKind::broadcast:
      return size;
    default:
      return size * share;
  }
}

double lowerBoundSeconds(const core::ClusterHardware& cluster, const GroupShape& shape, CollectiveKind kind,
                         std::int64_t bytes) {
  if (shape.ranks <= 1 || bytes <= 0) return 0;
  const double size = static_cast<double>(bytes);
  const double n = shape.ranks, perDomain = shape.ranksPerDomain, domains = shape.domains;
  const double nicPerGpu = shape.nicBytesPerSecond / perDomain;
  double throughNics = 0;  // bytes into one domain
  double intoGpu = busBytes(kind, bytes, shape.ranks);
  switch (kind) {
    case CollectiveKind::allGather:
    case CollectiveKind::reduceScatter:
      throughNics = size * std::max(0.0, n - perDomain) / n;
      break;
    case CollectiveKind::allReduce:
      throughNics = 2 * size * (domains - 1) / domains;
      if (shape.nvlink && cluster.nvSwitch) intoGpu = size;
      break;
    case CollectiveKind::allToAll:
      throughNics = perDomain * size * std::max(0.0, n - perDomain) / n;
      break;
    case CollectiveKind::broadcast:
      throughNics = size;
      break;
  }
  double bound = intoGpu / (shape.localBytesPerSecond + nicPerGpu);
  if (shape.acrossDomains()) bound = std::max(bound, throughNics / shape.nicBytesPerSecond);
  if (kind == CollectiveKind::allToAll && perDomain > 1) {
    bound = std::max(bound, size * (perDomain - 1) / n / shape.localBytesPerSecond);
  }
  return bound;
}

}  // namespace vsim::sim
