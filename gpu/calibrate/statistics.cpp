#include "gpu/calibrate/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vsim::gpu {
namespace {

constexpr int kFewestForInterval = 6;
constexpr int kFewestForDrift = 3 * kFewestForInterval;
constexpr double kDriftLimit = 0.03;
/// Half a 95 % interval in standard errors of a normal distribution.
constexpr double kStandardErrors = 1.96;
/// What a few samples may be off by, whatever they say themselves, and what clocks and conversions may be.
constexpr double kErrorOfFew = 0.05, kSmallestError = 0.002;

double deviation(const std::vector<double>& values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

/// Median and interval of samples that exist.
Estimate intervalOf(std::vector<double> samples) {
  Estimate result;
  result.samples = static_cast<int>(samples.size());
  result.median = median(samples);
  std::ranges::sort(samples);
  const auto k = static_cast<std::size_t>(std::max(1, lowerOrderStatistic(result.samples)));
  result.low = samples[k - 1];
  result.high = samples[samples.size() - k];
  return result;
}

void findDrift(const std::vector<double>& samples, Estimate& result) {
  if (samples.size() < kFewestForDrift) return;
  const auto third = static_cast<std::ptrdiff_t>(samples.size() / 3);
  const Estimate first = intervalOf({samples.begin(), samples.begin() + third});
  const Estimate last = intervalOf({samples.end() - third, samples.end()});
  if (first.median > 0) result.drift = last.median / first.median - 1;
  result.thirdsApart = last.low > first.high || last.high < first.low;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// The number of samples below the median is binomial with p = 1/2: the interval from the k-th smallest to
// the k-th largest misses it with probability 2 * P(B < k).
int lowerOrderStatistic(int samples) {
  double probability = std::exp2(-static_cast<double>(samples)), below = 0;
  int k = 0;
  while (k < samples / 2) {
    below += probability;  // P(B <= k)
    if (2 * below > 0.05) break;
    ++k;
    probability *= static_cast<double>(samples - k + 1) / static_cast<double>(k);
  }
  if (samples <= 1000) return k;
  // 2^-n underflows for large n: the normal approximation is exact enough there.
  const auto n = static_cast<double>(samples);
  return static_cast<int>(std::floor((n - kStandardErrors * std::sqrt(n)) / 2));
}

Estimate estimate(const std::vector<double>& samples) {
  if (samples.empty()) return {};
  Estimate result = intervalOf(samples);
  const double mean = std::reduce(samples.begin(), samples.end()) / static_cast<double>(samples.size());
  if (samples.size() > 1 && mean > 0) result.variation = deviation(samples, mean) / mean;
  findDrift(samples, result);
  return result;
}

double Estimate::relativeHalfWidth() const {
  if (samples < kFewestForInterval || !(median > 0)) return 1;
  return (high - low) / 2 / median;
}

double Estimate::relativeError() const {
  if (!(median > 0)) return 1;
  const double own = (high - low) / 2 / median / kStandardErrors;
  return std::max({own, samples < kFewestForInterval ? kErrorOfFew : 0.0, kSmallestError});
}

bool Estimate::drifted() const { return thirdsApart && std::abs(drift) > kDriftLimit; }

}  // namespace vsim::gpu
