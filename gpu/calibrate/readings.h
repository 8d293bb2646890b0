#pragma once

#include <vector>

#include "core/program/execution_log.h"

namespace vsim::gpu {

/// What a rank's times mean.
enum class Reading {
  own,     // every rank has hardware of its own: a slice lasts as long as its work
  shared,  // ranks share processors: a slice also lasts while others are served, or is over before they begin
};

/// Slices of one stream and step of one rank, in issue order.
using Repetitions = std::vector<core::Slice>;
[[nodiscard]] Repetitions repetitionsOf(const core::RankLog& log, core::StreamId stream, int step);

/// Seconds of one repetition, one sample per repetition (own: the median of the ranks) or per stretch of time
/// (shared). The first `warmUp` repetitions do not count.
///
/// Where ranks share processors, only what all of them get done while all are at work tells how long a
/// repetition takes: ranks times a stretch of time over the repetitions that ended in it, all ranks together.
/// No sample when the ranks did not overlap.
[[nodiscard]] std::vector<double> kernelSamples(const std::vector<Repetitions>& ranks, Reading reading,
                                                int warmUp);

/// The same of collectives of `group`. Own: the shortest of a group's ranks, which is that of the last rank
/// to arrive; the median of the groups.
[[nodiscard]] std::vector<double> collectiveSamples(const std::vector<Repetitions>& ranks,
                                                    const core::CommGroup& group, Reading reading,
                                                    int warmUp);

/// A stretch of time.
struct Window {
  core::Picoseconds begin = 0, end = 0;
  [[nodiscard]] double seconds() const {
    return end > begin ? core::secondsFromPicoseconds(end - begin) : 0.0;
  }
};

/// From when all have their `warmUp` first repetitions behind them (0: have begun) until one has ended its
/// last one.
[[nodiscard]] Window commonWindow(const std::vector<Repetitions>& ranks, int warmUp);
/// Repetitions per second and rank in it, parts of repetitions included. 0 when the window is empty.
[[nodiscard]] double rateIn(const std::vector<Repetitions>& ranks, Window window);

}  // namespace vsim::gpu
