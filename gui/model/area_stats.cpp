#include "gui/model/area_stats.h"

#include <algorithm>
#include <bit>

#include "core/report/timeline.h"
#include "traces/slice_text.h"

namespace vsim::gui {
namespace {

using core::Picoseconds;

constexpr int kBits = 7;  // 128 buckets for every doubling
constexpr std::size_t kBuckets = 64U << kBits;

/// Grows with the length; lengths of one bucket differ by less than 1 %.
std::size_t bucketOf(Picoseconds length) {
  const auto value = static_cast<std::uint64_t>(length);
  const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - kBits - 1);
  return (static_cast<std::size_t>(shift) << kBits) + static_cast<std::size_t>(value >> shift);
}

/// Calls visit(class, length inside, source) for every slice of the area.
template <class Visit>
void forSlices(std::span<const LaneIndex> indexes, std::span<const std::size_t> lanes, TimeRange range,
               const std::atomic<bool>& cancelled, Visit visit) {
  for (const std::size_t number : lanes) {
    if (cancelled) return;
    const LaneColumns& lane = indexes[number].lane();
    const LaneIndex::Run run = indexes[number].slicesIn(range);
    for (std::size_t i = run.first; i < run.last; ++i) {
      const Picoseconds begin = std::max(lane.begin[i], range.begin), end = std::min(lane.end[i], range.end);
      visit(static_cast<std::size_t>(lane.kind[i]), std::max<Picoseconds>(0, end - begin), lane.source[i]);
    }
  }
}

/// A percentile: the bucket it lies in, how many lengths lie in buckets below, and which one in order it is.
struct Wanted {
  std::size_t bucket = kBuckets;
  std::int64_t below = 0, rank = 0;
  std::vector<Picoseconds> inside{};  // lengths of the bucket
};

Wanted locate(std::span<const std::uint32_t> histogram, std::int64_t count, double share) {
  Wanted wanted;
  if (count == 0) return wanted;
  wanted.rank = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count))) - 1, 0, count - 1);
  for (std::size_t b = 0; b < histogram.size(); ++b) {
    if (wanted.below + histogram[b] > wanted.rank) {
      wanted.bucket = b;
      wanted.inside.reserve(histogram[b]);
      return wanted;
    }
    wanted.below += histogram[b];
  }
  return wanted;
}

Picoseconds valueOf(Wanted& wanted) {
  const auto at = static_cast<std::size_t>(wanted.rank - wanted.below);
  if (at >= wanted.inside.size()) return 0;
  const auto middle = wanted.inside.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(wanted.inside.begin(), middle, wanted.inside.end());
  return *middle;
}

}  // namespace

std::vector<core::Bytes> bytesOfSources(const TimelineData& data) {
  std::vector<core::Bytes> bytes;
  if (!data.log || !data.log->program) return bytes;
  const core::StepProgram& program = *data.log->program;
  bytes.reserve(program.step.size());
  for (core::Index i = 0; i < program.step.size(); ++i) bytes.push_back(traces::sliceBytes(program, i));
  return bytes;
}

AreaStats areaStats(std::span<const LaneIndex> indexes, std::span<const std::size_t> lanes, TimeRange range,
                    std::span<const core::Bytes> bytes, const std::atomic<bool>& cancelled) {
  AreaStats stats{.range = range, .lanes = lanes.size()};
  std::vector<std::uint32_t> histograms(kSliceClasses * kBuckets);
  forSlices(indexes, lanes, range, cancelled,
            [&](std::size_t kind, Picoseconds length, std::uint32_t source) {
              AreaStats::Row& row = stats.rows[kind];
              ++row.count;
              row.sum += length;
              if (source < bytes.size()) row.bytes += bytes[source];
              ++histograms[kind * kBuckets + bucketOf(length)];
            });
  std::array<Wanted, kSliceClasses> median, high;
  for (std::size_t c = 0; c < kSliceClasses; ++c) {
    const auto histogram = std::span(histograms).subspan(c * kBuckets, kBuckets);
    median[c] = locate(histogram, stats.rows[c].count, 0.5);
    high[c] = locate(histogram, stats.rows[c].count, 0.99);
  }
  forSlices(indexes, lanes, range, cancelled, [&](std::size_t kind, Picoseconds length, std::uint32_t) {
    const std::size_t bucket = bucketOf(length);
    if (bucket == median[kind].bucket) median[kind].inside.push_back(length);
    if (bucket == high[kind].bucket) high[kind].inside.push_back(length);
  });
  for (std::size_t c = 0; c < kSliceClasses; ++c) {
    stats.rows[c].median = valueOf(median[c]);
    stats.rows[c].p99 = valueOf(high[c]);
  }
  return stats;
}

void addOverlap(AreaStats& stats, const BusyTrack& communication, const BusyTrack& exposed) {
  stats.communication += communication.busyIn(stats.range);
  stats.exposed += exposed.busyIn(stats.range);
}

void addOverlap(AreaStats& stats, std::span<const LaneIndex> indexes,
                std::span<const std::size_t> communication, std::span<const std::size_t> compute,
                std::span<const Exposed::Step> steps, const std::atomic<bool>& cancelled) {
  const core::Slice any;  // the sweep asks whether there is one, not which
  for (const Exposed::Step& step : steps) {
    core::StepTimeline timeline;
    timeline.begin = std::max(step.range.begin, stats.range.begin);
    timeline.end = std::min(step.range.end, stats.range.end);
    if (cancelled || timeline.begin >= timeline.end) continue;
    const auto intervals = [&](std::span<const std::size_t> lanes, bool collectives) {
      std::vector<core::Interval> found;
      for (const std::size_t number : lanes) {
        const LaneColumns& lane = indexes[number].lane();
        const LaneIndex::Run run = indexes[number].slicesIn({timeline.begin, timeline.end});
        for (std::size_t i = run.first; i < run.last; ++i)
          if (isCommunication(lane.kind[i]) == collectives)
            found.push_back(
                {std::max(lane.begin[i], timeline.begin), std::min(lane.end[i], timeline.end), &any});
      }
      return core::flatten(std::move(found));
    };
    timeline.comm = intervals(communication, true);
    timeline.compute = intervals(compute, false);
    core::sweep(timeline, [&](Picoseconds length, const core::Slice* kernel, const core::Slice* collective,
                              const core::Slice*) {
      if (collective == nullptr) return;
      stats.communication += length;
      if (kernel == nullptr) stats.exposed += length;
    });
  }
}

}  // namespace vsim::gui
