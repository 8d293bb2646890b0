#include "core/mesh/norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace vsim::core {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double neutral(double p) { return p < 0 ? kInfinity : 0; }

/// Collects magnitudes for one result: first their extreme, then the sum of the powers of what is scaled by
/// it, so that neither large nor small values leave the range of a double.
class Accumulator {
 public:
  explicit Accumulator(double p) : p_(p), extreme_(neutral(p)) {}

  void scan(double magnitude) {
    if (std::isnan(magnitude) || std::isnan(extreme_))
      extreme_ = std::numeric_limits<double>::quiet_NaN();
    else
      extreme_ = p_ < 0 ? std::min(extreme_, magnitude) : std::max(extreme_, magnitude);
  }
  void add(double magnitude) {
    if (scales())
      sum_ += p_ == 2 ? magnitude / extreme_ * (magnitude / extreme_) : std::pow(magnitude / extreme_, p_);
  }
  [[nodiscard]] double result() const { return scales() ? extreme_ * std::pow(sum_, 1 / p_) : extreme_; }

 private:
  [[nodiscard]] bool scales() const { return std::isfinite(p_) && std::isfinite(extreme_) && extreme_ != 0; }
  double p_, extreme_, sum_ = 0;
};

template <class Each>
double normOver(double p, const Each& each) {
  Accumulator accumulator(p);
  each([&](double x) { accumulator.scan(x); });
  each([&](double x) { accumulator.add(x); });
  return accumulator.result();
}

Placement reduced(const Placement& placement, std::optional<int> dim, bool rowsStayCut) {
  if (const auto* shard = std::get_if<Shard>(&placement)) {
    if (!dim || shard->dim == *dim) return Partial{};
    return Shard{shard->dim > *dim ? shard->dim - 1 : shard->dim};
  }
  const auto* strided = std::get_if<StridedRaggedShard>(&placement);
  const auto* ragged = strided ? &strided->ragged : std::get_if<RaggedShard>(&placement);
  if (!ragged) return placement;
  // dims are the leading ones: a dimension behind them leaves them as they are.
  if (!dim || *dim < static_cast<int>(ragged->dims().size())) return Partial{};
  if (strided && rowsStayCut) return *strided;
  return *ragged;
}

}  // namespace

Result<NormPlan> planNorm(const Sharding& tensor, std::optional<int> dim, double p) {
  if (std::isnan(p)) return fail("a norm with p NaN");
  if (dim && (*dim < 0 || *dim >= static_cast<int>(tensor.shape().size())))
    return fail(fmt::format("a norm over dimension {} of a tensor with {}", *dim, tensor.shape().size()));
  std::vector<Placement> placements;
  for (const Placement& placement : tensor.placements()) {
    if (std::holds_alternative<Partial>(placement))
      return fail("a norm of a Partial tensor", "reduce it first: sums come before norms");
    placements.push_back(reduced(placement, dim, dim && *dim != 0));
  }
  std::vector<std::int64_t> shape;
  if (dim) {
    shape = tensor.shape();
    shape.erase(shape.begin() + *dim);
  }
  auto result = Sharding::make(tensor.mesh(), std::move(shape), std::move(placements));
  if (!result) return tl::unexpected(result.error());
  return NormPlan{tensor, std::move(*result), dim, p};
}

std::vector<double> localNorm(const NormPlan& plan, std::int64_t rank, std::span<const double> local) {
  const Interval held = plan.tensor.localInterval(rank), wanted = plan.result.localInterval(rank);
  VSIM_CHECK(static_cast<std::int64_t>(local.size()) == held.size(), "a local tensor of another size");
  if (!plan.dim) {
    const auto all = [&](const auto& visit) {
      for (const double x : local)
        if (plan.p != 0)
          visit(std::abs(x));
        else
          visit(std::isnan(x) ? x : x != 0);
    };
    if (plan.p != 0) return {normOver(plan.p, all)};
    return {normOver(1, all)};
  }
  const TensorBlock block = plan.tensor.localBlock(rank);
  const auto d = static_cast<std::size_t>(*plan.dim);
  std::int64_t inner = 1;
  for (std::size_t i = d + 1; i < block.size.size(); ++i) inner *= block.size[i];
  // Neighbours in the flat local tensor go to the results of the flat block without dimension d.
  const double p = plan.p == 0 ? 1 : plan.p;
  std::vector<Accumulator> results(static_cast<std::size_t>(wanted.size()), Accumulator(p));
  const auto visit = [&](const auto& each) {
    for (std::size_t i = 0; i < local.size(); ++i) {
      const std::int64_t flat = held.begin + static_cast<std::int64_t>(i);
      const std::int64_t target = flat / (inner * block.size[d]) * inner + flat % inner - wanted.begin;
      const double x = local[i];
      each(results[static_cast<std::size_t>(target)],
           plan.p != 0 || std::isnan(x) ? std::abs(x) : static_cast<double>(x != 0));
    }
  };
  visit([](Accumulator& result, double x) { result.scan(x); });
  visit([](Accumulator& result, double x) { result.add(x); });
  std::vector<double> values;
  values.reserve(results.size());
  for (const Accumulator& result : results) values.push_back(result.result());
  return values;
}

double combineNorms(std::span<const double> contributions, double p) {
  return normOver(p == 0 ? 1 : p, [&](const auto& visit) {
    for (const double x : contributions) visit(x);
  });
}

std::vector<std::vector<double>> combineNorms(const NormPlan& plan,
                                              const std::vector<std::vector<double>>& contributions) {
  const DeviceMesh& mesh = plan.result.mesh();
  VSIM_CHECK(static_cast<std::int64_t>(contributions.size()) == mesh.ranks(), "one contribution a rank");
  std::vector<std::vector<double>> values = contributions;
  for (std::size_t dim = 0; dim < mesh.dims().size(); ++dim) {
    if (!std::holds_alternative<Partial>(plan.result.placements()[dim])) continue;
    const CommGroup group = mesh.group(dim);
    const auto before = values;
    for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      const std::vector<std::int64_t> ranks = groupRanks(group, rank);
      std::vector<double> parts(ranks.size());
      std::vector<double>& mine = values[static_cast<std::size_t>(rank)];
      for (std::size_t i = 0; i < mine.size(); ++i) {
        for (std::size_t g = 0; g < ranks.size(); ++g)
          parts[g] = before[static_cast<std::size_t>(ranks[g])][i];
        mine[i] = combineNorms(parts, plan.p);
      }
    }
  }
  return values;
}

double Moments::variance(double correction) const {
  const double degrees = static_cast<double>(count) - correction;
  return degrees > 0 ? squares / degrees : std::numeric_limits<double>::quiet_NaN();
}

Moments momentsOf(std::span<const double> values) {
  Moments moments;
  for (const double x : values) {
    ++moments.count;
    const double before = x - moments.mean;
    moments.mean += before / static_cast<double>(moments.count);
    moments.squares += before * (x - moments.mean);
  }
  return moments;
}

Moments merge(const Moments& a, const Moments& b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  Moments both{.count = a.count + b.count};
  const auto n = static_cast<double>(both.count);
  const double apart = b.mean - a.mean;
  both.mean = a.mean + apart * (static_cast<double>(b.count) / n);
  both.squares = a.squares + b.squares +
                 apart * apart * (static_cast<double>(a.count) * (static_cast<double>(b.count) / n));
  return both;
}

}  // namespace vsim::core
