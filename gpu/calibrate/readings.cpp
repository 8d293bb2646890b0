#include "gpu/calibrate/readings.h"

#include <algorithm>
#include <limits>
#include <map>

#include "gpu/calibrate/statistics.h"
#include "gpu/data_plan.h"

namespace vsim::gpu {

using core::Picoseconds;
using core::Slice;

namespace {

/// Longer than the time slices that a system's scheduler gives to one thread (a few milliseconds), so that
/// every rank was served in it.
constexpr double kStretchSeconds = 0.025;
constexpr int kMostStretches = 16;

double secondsOf(const Slice& slice) { return core::secondsFromPicoseconds(slice.end - slice.begin); }

/// Repetitions done at `time`: whole ones and the part of the one in progress, gaps counted to what follows.
double doneAt(const Repetitions& list, Picoseconds time) {
  const auto after =
      std::ranges::partition_point(list, [&](const Slice& slice) { return slice.end <= time; });
  const auto index = static_cast<std::size_t>(after - list.begin());
  if (after == list.end()) return static_cast<double>(index);
  const Picoseconds from = index == 0 ? list.front().begin : list[index - 1].end;
  if (time <= from) return static_cast<double>(index);
  return static_cast<double>(index) +
         static_cast<double>(time - from) / static_cast<double>(after->end - from);
}

std::vector<double> sharedSamples(const std::vector<Repetitions>& ranks, int warmUp) {
  const Window whole = commonWindow(ranks, warmUp);
  const double seconds = whole.seconds();
  const double each = rateIn(ranks, whole);
  if (each <= 0) return {};
  const auto stretches = static_cast<Picoseconds>(std::clamp(
      std::floor(std::min(seconds / kStretchSeconds, seconds * each)), 1.0, double{kMostStretches}));
  std::vector<double> samples;
  for (Picoseconds i = 0; i < stretches; ++i) {
    const Picoseconds length = whole.end - whole.begin;
    const Window part{whole.begin + length * i / stretches, whole.begin + length * (i + 1) / stretches};
    if (const double rate = rateIn(ranks, part); rate > 0) samples.push_back(1 / rate);
  }
  return samples;
}

std::size_t fewest(const std::vector<Repetitions>& ranks) {
  std::size_t count = ranks.empty() ? 0 : std::numeric_limits<std::size_t>::max();
  for (const Repetitions& list : ranks) count = std::min(count, list.size());
  return count;
}

}  // namespace

Repetitions repetitionsOf(const core::RankLog& log, core::StreamId stream, int step) {
  Repetitions result;
  for (const Slice& slice : log.slices)
    if (slice.stream == stream && slice.step == step) result.push_back(slice);
  return result;
}

Window commonWindow(const std::vector<Repetitions>& ranks, int warmUp) {
  Window window{std::numeric_limits<Picoseconds>::min(), std::numeric_limits<Picoseconds>::max()};
  const auto skipped = static_cast<std::size_t>(std::max(0, warmUp));
  if (ranks.empty() || fewest(ranks) <= skipped) return {};
  for (const Repetitions& list : ranks) {
    window.begin = std::max(window.begin, skipped == 0 ? list.front().begin : list[skipped - 1].end);
    window.end = std::min(window.end, list.back().end);
  }
  return window;
}

double rateIn(const std::vector<Repetitions>& ranks, Window window) {
  if (ranks.empty() || window.seconds() <= 0) return 0;
  double done = 0;
  for (const Repetitions& list : ranks)
    if (!list.empty()) done += doneAt(list, window.end) - doneAt(list, window.begin);
  return done / static_cast<double>(ranks.size()) / window.seconds();
}

std::vector<double> kernelSamples(const std::vector<Repetitions>& ranks, Reading reading, int warmUp) {
  if (reading == Reading::shared) return sharedSamples(ranks, warmUp);
  std::vector<double> samples;
  for (auto i = static_cast<std::size_t>(std::max(0, warmUp)); i < fewest(ranks); ++i) {
    std::vector<double> all;
    for (const Repetitions& list : ranks) all.push_back(secondsOf(list[i]));
    samples.push_back(median(std::move(all)));
  }
  return samples;
}

std::vector<double> collectiveSamples(const std::vector<Repetitions>& ranks, const core::CommGroup& group,
                                      Reading reading, int warmUp) {
  if (reading == Reading::shared) return sharedSamples(ranks, warmUp);
  std::vector<double> samples;
  for (auto i = static_cast<std::size_t>(std::max(0, warmUp)); i < fewest(ranks); ++i) {
    std::map<int, double> shortest;  // by first member
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const double seconds = secondsOf(ranks[rank][i]);
      const auto [at, added] =
          shortest.try_emplace(membersOf(group, static_cast<int>(rank)).front(), seconds);
      if (!added) at->second = std::min(at->second, seconds);
    }
    std::vector<double> all;
    for (const auto& [first, seconds] : shortest) all.push_back(seconds);
    samples.push_back(median(std::move(all)));
  }
  return samples;
}

}  // namespace vsim::gpu
