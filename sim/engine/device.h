#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/program/execution_log.h"
#include "core/program/step_program.h"

namespace vsim::sim {

using core::Index;
using core::Picoseconds;
using core::StreamId;

/// A kernel or collective as the device runs it.
struct Task {
  Picoseconds issued = 0;       // cannot begin earlier
  Picoseconds time = 0;         // alone on the device
  Picoseconds earliestEnd = 0;  // several launches in one task: the last one's issue and time
  double slowdown = 0;          // see core::Cost; 0 where it takes nothing from others
  double stretch = 0;           // collectives, see core::Cost; 0 where kernels take nothing from it
  Index group = core::kNone;    // communicator; kNone: a kernel
  Index slice = core::kNone;    // where begin and end go; kNone: nowhere
  std::uint8_t step = 0;
};

/// A point in a stream: the work issued there before it.
struct Mark {
  StreamId stream = 0;
  std::uint32_t position = 0;
};

/// One GPU in virtual time: streams are FIFOs, a communicator runs its collectives one at a time in issue
/// order, active collectives and side streams slow kernels elsewhere down, and kernels elsewhere stretch
/// collectives, both integrated piece by piece. The host may run ahead: `advance(t)` plays the device up to
/// t, for which all work issued until t must be known.
class Device {
 public:
  static constexpr std::size_t kMaxStreams = 64;
  static constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();

  /// `slices` receives the times of tasks that name one; it may grow between calls. At most kMaxStreams
  /// streams.
  Device(std::size_t streams, std::size_t groups, std::size_t steps, std::vector<core::Slice>* slices);

  void launch(StreamId stream, const Task& task) {
    Item item;
    item.task = task;
    if (task.group != core::kNone) item.position = communicators_[task.group].issued++;
    push(stream, item);
  }
  /// Work issued on `stream` from now on begins after `mark`.
  void wait(StreamId stream, Mark mark) {
    if (reached(mark) || mark.stream == stream) return;
    std::uint32_t& known = waited_[stream * streams_.size() + mark.stream];
    if (known >= mark.position) return;  // an earlier wait in the same FIFO covers it
    known = mark.position;
    Item item;
    item.isWait = true;
    item.waitsFor = mark.stream;
    item.position = mark.position;
    push(stream, item);
  }
  [[nodiscard]] Mark mark(StreamId stream) const { return {stream, streams_[stream].issued}; }
  [[nodiscard]] bool reached(Mark mark) const { return streams_[mark.stream].done >= mark.position; }

  void advance(Picoseconds limit);
  /// Plays until `mark` is reached; answers that time, or `from` when it was reached by then.
  Picoseconds runUntil(Mark mark, Picoseconds from);
  /// Plays until all work is done; answers that time, at least `from`.
  Picoseconds drain(Picoseconds from);
  /// Tasks that are issued and not done: memory held by the queues.
  [[nodiscard]] std::size_t backlog() const;
  /// Latest end of a task of the step so far.
  [[nodiscard]] Picoseconds stepEnd(std::size_t step) const { return stepEnd_[step]; }

 private:
  struct Item {
    Task task;
    std::uint32_t position = 0;  // wait: of the mark; collective: its turn in the communicator
    StreamId waitsFor = 0;
    bool isWait = false;
  };
  struct Stream {
    std::vector<Item> items;
    std::size_t head = 0;
    std::uint32_t issued = 0, done = 0;
    std::uint64_t waiting = 0;  // streams blocked until this one moves on
    // the running task; all but `begin` only where its rate may change
    Picoseconds begin = 0;
    Picoseconds updated = 0;
    double remaining = 0, factor = 1;
  };
  struct Communicator {
    std::uint32_t issued = 0, done = 0;
    std::uint64_t waiting = 0;
  };

  void push(StreamId stream, const Item& item) {
    Stream& s = streams_[stream];
    s.items.push_back(item);
    ++s.issued;
    check_ |= bit(stream);
  }
  static std::uint64_t bit(std::size_t stream) { return std::uint64_t{1} << stream; }
  template <class Stop>
  bool play(Picoseconds limit, Stop stop);
  void startReady();
  void tryStart(std::size_t stream);
  void start(std::size_t stream, const Task& task);
  void finish(std::size_t stream);
  void updateRates();
  void setFactor(std::size_t stream, double factor);
  void forgetDone();

  std::vector<Stream> streams_;
  std::vector<Picoseconds> nextTime_;  // [stream]: end of the running task, or issue of the next one
  std::vector<Communicator> communicators_;
  std::vector<std::uint32_t> waited_;  // [stream][other]: latest position of `other` waited for
  std::vector<Picoseconds> stepEnd_;
  std::vector<core::Slice>* slices_;
  Picoseconds now_ = 0;
  std::uint64_t check_ = 0;    // streams whose head may be able to start
  std::uint64_t running_ = 0;  // streams that run a task
  std::uint64_t kernels_ = 0;  // of these: kernels
  std::uint64_t sources_ = 0;  // of these: tasks that slow others down
  std::uint64_t elastic_ = 0;  // of these: collectives that kernels stretch
  bool ratesChanged_ = false;
};

}  // namespace vsim::sim
