#pragma once

#include <vector>

namespace vsim::gpu {

/// What repeated measurements of one quantity say. The median, because a noisy machine only ever makes
/// things slower; its interval from order statistics alone, so that it holds for any distribution.
struct Estimate {
  int samples = 0;
  double median = 0;
  /// At least 95 % of the time the true median lies between them (from six samples on; with fewer they are
  /// the extremes).
  double low = 0, high = 0;
  double variation = 0;  // standard deviation over mean
  /// Median of the last third over that of the first third, minus 1; 0 below 18 samples.
  double drift = 0;
  bool thirdsApart = false;  // the intervals of these two medians do not meet

  /// Half the interval as a fraction of the median; 1 where five samples or fewer say little.
  [[nodiscard]] double relativeHalfWidth() const;
  /// One standard error as a fraction, as profiles state it.
  [[nodiscard]] double relativeError() const;
  /// The machine became slower (or faster) while it was measured: by more than 3 %, and by more than
  /// the medians at its beginning and end are uncertain.
  [[nodiscard]] bool drifted() const;
};

/// `samples` in the order in which they were taken.
[[nodiscard]] Estimate estimate(const std::vector<double>& samples);

/// Of an even number: the mean of the two in the middle. 0 when there is none.
[[nodiscard]] double median(std::vector<double> values);

/// Number from 1 of the order statistic that bounds the 95 % interval of the median from below; 0 when
/// `samples` are too few for one. The upper bound is as far from the other end.
[[nodiscard]] int lowerOrderStatistic(int samples);

}  // namespace vsim::gpu
