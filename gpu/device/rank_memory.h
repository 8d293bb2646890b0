#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "core/program/execution_log.h"
#include "gpu/device/device_options.h"
#include "gpu/device/device_segments.h"
#include "gpu/device/event_pool.h"

namespace vsim::gpu::device {

/// Buffers of one rank: its allocator on the device's segments, told by events how far the streams are, and
/// the log of what is taken and given back. The rank's host thread only.
class RankMemory {
 public:
  RankMemory(const RankContext& context, const core::StepProgram& program, const DeviceOptions& options,
             const std::vector<Stream>& streams, std::vector<RankCommunicator*> registerWith);

  void allocate(core::Index buffer, core::Picoseconds time, int step);
  void release(core::Index buffer, core::Picoseconds time, int step);
  void recordStream(core::Index buffer, core::StreamId stream);
  [[nodiscard]] bool live(core::Index buffer) const { return live_[buffer].live; }
  /// Fails when the buffer is not live.
  [[nodiscard]] std::byte* at(core::Index buffer) const;

  /// Device memory that the executor holds beside the program's buffers: said when those do not fit.
  void setBeside(core::Bytes bytes) { beside_ = bytes; }

  void beginStep(core::Picoseconds time);
  /// Puts the events and peaks into the log.
  void finish(core::RankLog& log);
  void abandon();

 private:
  struct Ticket {
    std::uint64_t number = 0;
    Event event = nullptr;
  };
  struct Tickets {
    std::deque<Ticket> pending;
    std::uint64_t issued = 0, completed = 0;
  };
  struct Live {
    std::uint64_t address = 0;
    core::Bytes charged = 0;  // what the allocator's total grew by
    bool live = false, recorded = false;
  };
  struct Released {
    std::uint64_t address = 0;
    core::Bytes bytes = 0;
  };
  std::uint64_t issueTicket(core::StreamId stream);
  bool completed(core::StreamId stream, std::uint64_t ticket);
  void note(core::Index buffer, core::Picoseconds time, int step, bool allocated);
  void poisonReleased(const core::Buffer& buffer, const core::MemoryModel::Block& taken);
  void updatePeak(core::MemoryPeak& peak, core::Picoseconds time) const;
  [[noreturn]] void exhausted(core::Index buffer);
  [[nodiscard]] std::string nameOf(core::Index buffer) const;

  const RankContext& context_;
  const core::StepProgram& program_;
  const std::vector<Stream>& streams_;
  bool poison_;
  DeviceSegments segments_;
  EventPool events_;
  std::vector<Tickets> tickets_;                 // [stream]
  std::unique_ptr<core::MemoryModel> memory_;    // after what it calls
  std::vector<Live> live_;                       // [buffer]
  std::vector<std::vector<Released>> released_;  // [pool]: not yet poisoned
  core::MemoryModel::Totals totals_;
  std::array<core::Bytes, 9> byCategory_{};
  core::MemoryPeak peak_, stepPeak_;
  std::int64_t retriesBeforeStep_ = 0;
  core::Bytes beside_ = 0;
  std::vector<core::MemoryEvent> log_;
};

}  // namespace vsim::gpu::device
