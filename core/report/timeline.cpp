#include "core/report/timeline.h"

#include <algorithm>

#include "core/base/error.h"

namespace vsim::core {
namespace {

bool beginsEarlier(const Interval& a, const Interval& b) {
  if (a.begin != b.begin) return a.begin < b.begin;
  return a.slice->instruction < b.slice->instruction;
}

Picoseconds beginOf(const RankLog& ranks, std::size_t step) {
  VSIM_CHECK(step < ranks.stepEnd.size() && step < ranks.stepBegin.size(), "a completed step is needed");
  return step > 0 ? std::max(ranks.stepBegin[step], ranks.stepEnd[step - 1]) : ranks.stepBegin[step];
}

}  // namespace

std::vector<Interval> flatten(std::vector<Interval> intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end(), beginsEarlier))
    std::sort(intervals.begin(), intervals.end(), beginsEarlier);
  std::size_t kept = 0;
  for (const Interval& interval : intervals) {
    Interval rest = interval;
    if (kept > 0) rest.begin = std::max(rest.begin, intervals[kept - 1].end);
    if (rest.begin < rest.end) intervals[kept++] = rest;
  }
  intervals.resize(kept);
  return intervals;
}

Picoseconds totalLength(const std::vector<Interval>& flat) {
  Picoseconds sum = 0;
  for (const Interval& interval : flat) sum += interval.end - interval.begin;
  return sum;
}

StreamId defaultStream(const StepProgram& program) {
  const auto found = std::find(program.streams.begin(), program.streams.end(), "default");
  return found == program.streams.end() ? StreamId{0}
                                        : static_cast<StreamId>(found - program.streams.begin());
}

StepTimeline stepTimeline(const StepProgram& program, const RankLog& ranks, std::size_t step) {
  StepTimeline timeline;
  timeline.begin = beginOf(ranks, step);
  timeline.end = ranks.stepEnd[step];

  const StreamId computeStream = defaultStream(program);
  for (const Slice& slice : ranks.slices) {
    const Interval interval{std::max(slice.begin, timeline.begin), std::min(slice.end, timeline.end), &slice};
    if (interval.begin >= interval.end) continue;
    VSIM_CHECK(slice.instruction < program.step.size(), "slices name instructions of the step");
    if (program.step[slice.instruction].kind == InstructionKind::collective)
      timeline.collectives.push_back(interval);
    else if (slice.stream == computeStream)
      timeline.compute.push_back(interval);
    else
      timeline.copies.push_back(interval);
  }
  timeline.compute = flatten(std::move(timeline.compute));
  timeline.comm = flatten(timeline.collectives);
  timeline.copies = flatten(std::move(timeline.copies));
  return timeline;
}

StepTimeline lastStep(const StepProgram& program, const RankLog& ranks) {
  VSIM_CHECK(!ranks.stepEnd.empty(), "a completed step is needed");
  return stepTimeline(program, ranks, ranks.stepEnd.size() - 1);
}

Picoseconds stepLength(const RankLog& ranks, std::size_t step) {
  return ranks.stepEnd[step] - beginOf(ranks, step);
}

}  // namespace vsim::core
