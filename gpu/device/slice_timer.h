#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "core/program/execution_log.h"
#include "gpu/device/event_pool.h"

namespace vsim::gpu::device {

/// When kernels and collectives ran, by two timed events around each. Events of what has ended are read and
/// used again as the execution goes on; device times become host times by two moments at which both clocks
/// are known, before the first and after the last step. The host's moment is taken as early as it can have
/// been, so that nothing seems to end later than it did.
///
/// begin and end belong to the rank's host thread; harvest and oldest to anyone.
class SliceTimer {
 public:
  SliceTimer(const RankContext& context, std::size_t streams);

  /// Both clocks at one moment, on an idle stream. The first one before any slice, the second one after all
  /// of them have ended.
  void synchronizeClocks(Stream stream);
  void begin(const core::Slice& slice, Stream stream);
  /// Of the slice begun last.
  void end(Stream stream);

  /// Reads what has ended. True: something had.
  bool harvest();
  /// The first slice of each stream that has begun to be issued and has not been seen to end.
  [[nodiscard]] std::vector<core::Slice> oldest() const;

  /// All slices in issue order, after the second synchronizeClocks.
  [[nodiscard]] std::vector<core::Slice> take();
  void abandon() { pool_.abandon(); }

 private:
  struct Pending {
    std::size_t slice = 0;
    Event begin = nullptr, end = nullptr;  // end: null until the slice has been issued
  };
  struct Moment {
    core::Picoseconds host = 0;
    double device = 0;  // milliseconds from the first moment
  };
  struct Span {
    double begin = 0, end = 0;  // milliseconds from the first moment
  };
  void read(const Pending& pending);
  [[nodiscard]] core::Picoseconds hostTime(double device) const;

  const RankContext& context_;
  mutable std::mutex mutex_;
  EventPool pool_;
  Event base_ = nullptr;
  double baseTime_ = 0;  // of base_, milliseconds from the first moment
  std::vector<Moment> moments_;
  std::deque<core::Slice> slices_;
  std::deque<Span> spans_;                    // [slice]
  std::vector<std::deque<Pending>> pending_;  // [stream]
  core::StreamId open_ = 0;                   // stream of the slice begun last
};

}  // namespace vsim::gpu::device
