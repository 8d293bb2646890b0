#include "core/profile/collective_fit.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace vsim::core {
namespace {

constexpr auto kIntraLatency = static_cast<std::size_t>(LinkTerm::intraNodeLatency);
constexpr auto kInterLatency = static_cast<std::size_t>(LinkTerm::interNodeLatency);
constexpr auto kIntraInverse = static_cast<std::size_t>(LinkTerm::intraNodeBandwidth);
constexpr auto kInterInverse = static_cast<std::size_t>(LinkTerm::interNodeBandwidth);

using Row = std::array<double, kLinkTerms>;

struct System {
  std::vector<Row> rows;        // relative: divided by the measured time
  std::vector<double> targets;  // what the unknown terms must explain of 1
};

/// Normal equations over the columns in `active`, by Cholesky with columns scaled to unit length. Columns
/// that the earlier ones explain are dropped from `active`. Returns the inverse of the (unscaled) matrix as
/// well.
struct Solution {
  Row value{};
  Row variance{};  // diagonal of the inverse
};

Solution solve(const System& system, std::vector<std::size_t>& active) {
  // Modified Gram-Schmidt on the scaled columns: small, stable, and it shows which columns are redundant.
  std::vector<std::vector<double>> q;
  std::vector<std::size_t> kept;
  std::vector<std::vector<double>> r;  // r[j][i]: column kept[j] on q[i]
  for (const std::size_t column : active) {
    std::vector<double> v;
    v.reserve(system.rows.size());
    double length = 0;
    for (const Row& row : system.rows) {
      v.push_back(row[column]);
      length += row[column] * row[column];
    }
    length = std::sqrt(length);
    if (length <= 0) continue;
    std::vector<double> coefficients;
    for (const auto& basis : q) {
      double dot = 0;
      for (std::size_t i = 0; i < v.size(); ++i) dot += basis[i] * v[i];
      for (std::size_t i = 0; i < v.size(); ++i) v[i] -= dot * basis[i];
      coefficients.push_back(dot);
    }
    double rest = 0;
    for (const double x : v) rest += x * x;
    rest = std::sqrt(rest);
    if (rest < 1e-6 * length) continue;
    for (double& x : v) x /= rest;
    coefficients.push_back(rest);
    q.push_back(std::move(v));
    r.push_back(std::move(coefficients));
    kept.push_back(column);
  }
  active = kept;
  const std::size_t size = kept.size();
  Solution solution;
  std::vector<std::vector<double>> inverse(size, std::vector<double>(size, 0.0));  // of R, upper triangular
  for (std::size_t j = 0; j < size; ++j) {
    inverse[j][j] = 1 / r[j][j];
    for (std::size_t i = j; i-- > 0;) {
      double sum = 0;
      for (std::size_t l = i + 1; l <= j; ++l) sum += r[l][i] * inverse[l][j];
      inverse[i][j] = -sum / r[i][i];
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    double value = 0, variance = 0;
    for (std::size_t j = i; j < size; ++j) {
      double dot = 0;
      for (std::size_t p = 0; p < system.targets.size(); ++p) dot += q[j][p] * system.targets[p];
      value += inverse[i][j] * dot;
      variance += inverse[i][j] * inverse[i][j];
    }
    solution.value[kept[i]] = value;
    solution.variance[kept[i]] = variance;
  }
  return solution;
}

/// Terms that the profile states for `kind`, its own before those for every kind.
void takeStatedTerms(const Profile& profile, CollectiveKind kind, FittedCollective& fit) {
  for (const bool own : {true, false}) {
    for (const ProfiledTerm& term : profile.terms) {
      if (own ? term.kind != kind : term.kind.has_value()) continue;
      const auto i = static_cast<std::size_t>(term.term);
      if (fit.known[i]) continue;
      fit.known[i] = fit.stated[i] = true;
      fit.modelled[i] = term.origin.provenance == Provenance::modelled;
      fit.value[i] = i == kIntraInverse || i == kInterInverse ? 1 / term.value : term.value;
      fit.standardError[i] = fit.value[i] * term.origin.relativeError;
    }
  }
}

}  // namespace

std::array<double, kLinkTerms> linkFactors(CollectiveKind kind, Bytes bytes, std::int64_t ranks,
                                           std::int64_t ranksPerNode) {
  std::array<double, kLinkTerms> factor{};
  if (ranks <= 1 || bytes <= 0 || ranksPerNode < 1) return factor;
  const double n = static_cast<double>(ranks);
  const double p = static_cast<double>(std::min(ranks, ranksPerNode));
  const std::int64_t nodeCount = (ranks + ranksPerNode - 1) / ranksPerNode;
  const double nodes = static_cast<double>(nodeCount);
  const double size = static_cast<double>(bytes);
  const bool across = nodeCount > 1;
  double payload = size * (n - 1) / n;
  switch (kind) {
    case CollectiveKind::allToAll:
      factor[kIntraLatency] = p - 1;
      factor[kInterLatency] = n - p;
      (across ? factor[kInterInverse] : factor[kIntraInverse]) = across ? size * (n - p) / n : payload;
      return factor;
    case CollectiveKind::allReduce:
      payload *= 2;
      factor[kIntraLatency] = 2 * (p - 1);
      factor[kInterLatency] =
          across ? 2.0 * (static_cast<int>(std::bit_width(static_cast<std::uint64_t>(nodeCount))) - 1) : 0;
      break;
    case CollectiveKind::broadcast:
      payload = size;
      [[fallthrough]];
    default:
      factor[kIntraLatency] = across ? n - nodes : n - 1;
      factor[kInterLatency] = across ? nodes : 0;
  }
  if (across) {
    factor[kInterInverse] = payload / p;
  } else {
    factor[kIntraInverse] = payload;
  }
  return factor;
}

bool FittedCollective::reaches(Bytes bytes, const Row& factor) const {
  const auto latencyStated = [&](std::size_t i) { return factor[i] <= 0 || stated[i]; };
  const bool latencies = latencyStated(kIntraLatency) && latencyStated(kInterLatency);
  for (const std::size_t i : {kIntraInverse, kInterInverse}) {
    if (factor[i] <= 0 || largest[i] == 0) continue;
    const bool apart = latencies || largest[i] / kSpan >= smallest[i];
    if ((!apart || largest[i] < kSmallMessage) && bytes / kReach > largest[i]) return false;
    if (!apart && smallest[i] / kReach > bytes) return false;
  }
  return true;
}

std::optional<FittedCollective::Prediction> FittedCollective::predict(Bytes bytes, std::int64_t ranks,
                                                                      std::int64_t ranksPerNode) const {
  const Row factor = linkFactors(kind, bytes, ranks, ranksPerNode);
  if (!reaches(bytes, factor)) return std::nullopt;
  Prediction prediction;
  double variance = 0, modelledSeconds = 0;
  for (std::size_t i = 0; i < kLinkTerms; ++i) {
    if (factor[i] <= 0) continue;
    if (!known[i]) return std::nullopt;
    prediction.seconds += factor[i] * value[i];
    if (modelled[i]) modelledSeconds += factor[i] * value[i];
    variance += factor[i] * factor[i] * standardError[i] * standardError[i];
  }
  if (!(prediction.seconds > 0)) return std::nullopt;
  if (modelledSeconds > prediction.seconds / 2) prediction.provenance = Provenance::modelled;
  prediction.relativeError = std::hypot(std::sqrt(variance) / prediction.seconds, meanAbsoluteError);
  return prediction;
}

std::optional<FittedCollective> fitCollective(const Profile& profile, CollectiveKind kind) {
  FittedCollective fit;
  fit.kind = kind;
  takeStatedTerms(profile, kind, fit);
  System system;
  double pointError = 0;
  for (const ProfiledCollective& point : profile.collectives) {
    if (point.kind != kind || !(point.seconds > 0)) continue;
    if (!point.aligned && !point.anyAlignment) continue;  // terms are those of aligned transfers
    Row row = linkFactors(kind, point.bytes, point.ranks, point.ranksPerNode);
    double target = 1;
    for (std::size_t i = 0; i < kLinkTerms; ++i) {
      row[i] /= point.seconds;
      if (fit.known[i]) target -= row[i] * fit.value[i];
      const bool bandwidth = i == kInterInverse || i == kIntraInverse;
      if (bandwidth && !fit.stated[i] && row[i] > 0) {
        fit.smallest[i] = fit.largest[i] == 0 ? point.bytes : std::min(fit.smallest[i], point.bytes);
        fit.largest[i] = std::max(fit.largest[i], point.bytes);
      }
    }
    system.rows.push_back(row);
    system.targets.push_back(target);
    pointError = std::max(pointError, point.origin.relativeError);
    ++fit.points;
  }
  if (fit.points == 0 && std::none_of(fit.known.begin(), fit.known.end(), [](bool k) { return k; })) {
    return std::nullopt;
  }

  std::vector<std::size_t> unknown;  // bandwidths first: they are what the points determine best
  for (const std::size_t i : {kInterInverse, kIntraInverse, kInterLatency, kIntraLatency}) {
    const bool seen =
        std::any_of(system.rows.begin(), system.rows.end(), [i](const Row& r) { return r[i] > 0; });
    if (!fit.known[i] && seen) unknown.push_back(i);
  }
  std::vector<std::size_t> active = unknown;
  Solution solution;
  while (true) {
    solution = solve(system, active);
    const auto worst = std::min_element(active.begin(), active.end(), [&](std::size_t a, std::size_t b) {
      return solution.value[a] < solution.value[b];
    });
    if (worst == active.end() || solution.value[*worst] >= 0) break;
    solution.value[*worst] = 0;
    active.erase(worst);
  }
  double squares = 0, absolute = 0;
  for (std::size_t p = 0; p < system.rows.size(); ++p) {
    double rest = system.targets[p];
    for (const std::size_t i : active) rest -= system.rows[p][i] * solution.value[i];
    squares += rest * rest;
    absolute += std::abs(rest);
  }
  const auto freedom = static_cast<double>(system.rows.size()) - static_cast<double>(active.size());
  // As many points as terms leave no residual: then the points' own error is all there is.
  const double sigma = std::max(freedom > 0 ? std::sqrt(squares / freedom) : 0.0, pointError);
  for (const std::size_t i : unknown) {
    const bool used = std::find(active.begin(), active.end(), i) != active.end();
    const bool bandwidth = i == kInterInverse || i == kIntraInverse;
    if (bandwidth && !(used && solution.value[i] > 0)) continue;  // an infinite bandwidth is no answer
    fit.known[i] = true;
    fit.value[i] = used ? solution.value[i] : 0;
    fit.standardError[i] = used ? std::sqrt(solution.variance[i]) * sigma : 0;
  }
  if (fit.points > 0) fit.meanAbsoluteError = absolute / fit.points;
  return fit;
}

}  // namespace vsim::core
