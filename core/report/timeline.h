#pragma once

#include <cstddef>
#include <vector>

#include "core/base/units.h"
#include "core/program/execution_log.h"

namespace vsim::core {

/// A stretch of time that belongs to one slice.
struct Interval {
  Picoseconds begin = 0, end = 0;
  const Slice* slice = nullptr;  // into the log
};

/// Sorted and free of overlaps: where several cover an instant, it belongs to the one that began first.
[[nodiscard]] std::vector<Interval> flatten(std::vector<Interval> intervals);
[[nodiscard]] Picoseconds totalLength(const std::vector<Interval>& flat);

/// Slices of one step by where they ran, clipped to its window.
struct StepTimeline {
  Picoseconds begin = 0, end = 0;
  std::vector<Interval> collectives;  // as they ran: those of several communicators overlap
  // Flat:
  std::vector<Interval> compute;  // kernels on the default stream
  std::vector<Interval> comm;     // union of the collectives
  std::vector<Interval> copies;   // kernels on other streams
};

/// Step number `step` of `ranks`, which must have completed it. It begins when the step before has drained or
/// when its own host work began, whichever is later.
[[nodiscard]] StepTimeline stepTimeline(const StepProgram& program, const RankLog& ranks, std::size_t step);
/// The last completed step; there must be one.
[[nodiscard]] StepTimeline lastStep(const StepProgram& program, const RankLog& ranks);
/// Length of a completed step alone.
[[nodiscard]] Picoseconds stepLength(const RankLog& ranks, std::size_t step);

/// Index of the stream called "default" (compute runs there); the first one when none is called so.
[[nodiscard]] StreamId defaultStream(const StepProgram& program);

/// Calls visit(length, compute, comm, copies) for every stretch of the step in which none of the three
/// changes; null where nothing runs. In order of time, without gaps: the lengths sum to the step.
template <class Visit>
void sweep(const StepTimeline& timeline, Visit&& visit) {
  struct Cursor {
    const std::vector<Interval>& list;
    std::size_t at = 0;
    const Slice* active(Picoseconds now) {
      while (at < list.size() && list[at].end <= now) ++at;
      return at < list.size() && list[at].begin <= now ? list[at].slice : nullptr;
    }
    [[nodiscard]] Picoseconds nextChange(Picoseconds now, Picoseconds limit) const {
      if (at >= list.size()) return limit;
      const Picoseconds change = list[at].begin <= now ? list[at].end : list[at].begin;
      return change < limit ? change : limit;
    }
  };
  Cursor compute{timeline.compute}, comm{timeline.comm}, copies{timeline.copies};
  for (Picoseconds now = timeline.begin; now < timeline.end;) {
    const Slice* a = compute.active(now);
    const Slice* b = comm.active(now);
    const Slice* c = copies.active(now);
    Picoseconds next = compute.nextChange(now, timeline.end);
    next = comm.nextChange(now, next);
    next = copies.nextChange(now, next);
    visit(next - now, a, b, c);
    now = next;
  }
}

}  // namespace vsim::core
