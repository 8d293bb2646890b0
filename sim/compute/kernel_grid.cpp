#include "sim/compute/kernel_grid.h"

#include <algorithm>
#include <cmath>

namespace vsim::sim {
namespace {

using core::OpKind;

constexpr std::size_t kNeighbours = 4;
constexpr std::size_t kFewest = 3;
/// Shares of the neighbours' logarithm that are tried. A model that was fitted to the same kind of kernels
/// leaves noise, of which less is more; a board that it does not know is corrected in full.
constexpr std::array<double, 5> kStrengths{0, 0.25, 0.5, 0.75, 1};
/// Points whose prediction from the others is tried: enough for a mean.
constexpr std::size_t kMostTried = 2000;
/// Error that comes on top per doubling of a size beyond the nearest point's first.
constexpr double kErrorPerDoubling = 0.03;

double log2Of(std::int64_t value) { return std::log2(static_cast<double>(std::max<std::int64_t>(1, value))); }

double squaredDistance(const std::array<double, 4>& a, const std::array<double, 4>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace

core::Operation operationOf(const core::ProfiledOperation& point) {
  core::Operation op;
  op.kind = core::kindOf(point);
  op.name = point.name;
  op.dtype = point.dtype.value_or(core::DType::bf16);
  op.m = point.m;
  op.n = point.n;
  op.k = point.k;
  op.groups = std::max<std::int64_t>(1, point.groups);
  op.batch = std::max<std::int64_t>(1, point.batch);
  op.sequence = point.sequence;
  op.heads = std::max<std::int64_t>(1, point.heads);
  op.kvHeads = point.kvHeads > 0 ? point.kvHeads : op.heads;
  op.headDim = point.headDim;
  const auto size = [](std::initializer_list<std::int64_t> factors) {
    double product = 1;
    for (const std::int64_t factor : factors) product *= static_cast<double>(factor);
    return product;
  };
  double flops = 0, elements = 0;
  if (op.kind == OpKind::gemm || op.kind == OpKind::groupedGemm) {
    // Rows of a grouped product are those of all groups; a batch of equal products has m rows in each.
    const std::int64_t batch = op.kind == OpKind::gemm ? op.groups : 1;
    flops = 2 * size({op.m, op.n, op.k, batch});
    elements = size({op.m, op.k, batch}) + size({op.k, op.n, op.groups}) + size({op.m, op.n, batch});
  } else if (op.kind != OpKind::memory) {
    const bool backward = op.kind == OpKind::attentionBackward;
    flops = (backward ? 10 : 4) * size({op.batch, op.heads, op.sequence, op.sequence, op.headDim});
    elements = (backward ? 2 : 1) * 2 * size({op.batch, op.heads + op.kvHeads, op.sequence, op.headDim});
  }
  constexpr double kMost = 9e18;
  op.flops = static_cast<core::Flops>(std::min(flops, kMost));
  op.causalFlops =
      op.kind == OpKind::attentionForward || op.kind == OpKind::attentionBackward ? op.flops / 2 : op.flops;
  op.bytesRead = point.bytes > 0 ? point.bytes
                                 : static_cast<core::Bytes>(std::min(
                                       elements * static_cast<double>(core::bytesOf(op.dtype)), kMost));
  return op;
}

KernelGrid::Place KernelGrid::placeOf(const core::Operation& op) {
  if (op.kind == OpKind::gemm || op.kind == OpKind::groupedGemm)
    return {log2Of(op.m), log2Of(op.n), log2Of(op.k), log2Of(op.groups)};
  return {log2Of(op.batch) + log2Of(op.heads), log2Of(op.sequence), log2Of(op.headDim),
          log2Of(op.heads) - log2Of(op.kvHeads > 0 ? op.kvHeads : op.heads)};
}

KernelGrid::Neighbours KernelGrid::nearest(const std::vector<Point>& points, const Place& place,
                                           const Point* without) {
  std::array<std::pair<double, const Point*>, kNeighbours> best;
  std::size_t found = 0;
  for (const Point& point : points) {
    if (&point == without) continue;
    const double distance = squaredDistance(point.place, place);
    if (found == kNeighbours && distance >= best[found - 1].first) continue;
    std::size_t at = found < kNeighbours ? found++ : kNeighbours - 1;
    for (; at > 0 && best[at - 1].first > distance; --at) best[at] = best[at - 1];
    best[at] = {distance, &point};
  }
  if (found == 0) return {};
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < found; ++i) {
    // A hundredth of a doubling apart is the same shape.
    const double weight = 1 / (best[i].first + 1e-4);
    sum += weight * best[i].second->logFactor;
    weights += weight;
  }
  return {sum / weights, std::sqrt(best[0].first)};
}

bool KernelGrid::worthwhile(Group& group) {
  if (group.points.size() < kFewest) return false;
  std::array<double, kStrengths.size()> errors{};
  double count = 0;
  const std::size_t step = group.points.size() / kMostTried + 1;
  for (std::size_t i = 0; i < group.points.size(); i += step) {
    const Point& point = group.points[i];
    const Neighbours others = nearest(group.points, point.place, &point);
    for (std::size_t s = 0; s < kStrengths.size(); ++s)
      errors[s] += std::abs(std::exp(kStrengths[s] * others.logFactor - point.logFactor) - 1);
    ++count;
  }
  const auto best = std::min_element(errors.begin(), errors.end()) - errors.begin();
  group.strength = kStrengths[static_cast<std::size_t>(best)];
  group.error = errors[static_cast<std::size_t>(best)] / count;
  return group.strength > 0;
}

KernelGrid::KernelGrid(const core::Profile& profile, const Model& model) {
  for (const core::ProfiledOperation& point : profile.operations) {
    const OpKind kind = core::kindOf(point);
    if (point.origin.provenance != core::Provenance::measured || !point.dtype || kind == OpKind::memory ||
        !(point.seconds > 0))
      continue;
    const bool sized = kind == OpKind::gemm || kind == OpKind::groupedGemm
                           ? point.m > 0 && point.n > 0 && point.k > 0
                           : point.sequence > 0 && point.headDim > 0;
    if (!sized) continue;
    const core::Operation operation = operationOf(point);
    const double modelled = model(operation);
    if (!(modelled > 0) || !std::isfinite(modelled)) continue;
    groups_[{kind, *point.dtype}].points.push_back({placeOf(operation), std::log(point.seconds / modelled)});
  }
  for (auto group = groups_.begin(); group != groups_.end();)
    group = worthwhile(group->second) ? std::next(group) : groups_.erase(group);
}

std::optional<KernelGrid::Correction> KernelGrid::correction(const core::Operation& operation) const {
  const auto group = groups_.find({operation.kind, operation.dtype});
  if (group == groups_.end()) return std::nullopt;
  const Neighbours near = nearest(group->second.points, placeOf(operation), nullptr);
  const double beyond = std::max(0.0, near.distance - 1);
  return Correction{std::exp(group->second.strength * near.logFactor),
                    std::hypot(group->second.error, kErrorPerDoubling * beyond)};
}

}  // namespace vsim::sim
