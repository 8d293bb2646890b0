#pragma once

#include <memory>
#include <vector>

#include "gpu/device/device_rank.h"

namespace vsim::gpu::device {

/// What one rank has on its device while it runs.
struct DeviceRank::Parts {
  explicit Parts(const RankContext& rank) : context(rank) {}
  ~Parts() {
    for (const Event event : events)
      if (event != nullptr) static_cast<void>(context.api.destroyEvent(event));
    for (const Event event : marks) static_cast<void>(context.api.destroyEvent(event));
    for (const Stream stream : streams) static_cast<void>(context.api.destroyStream(stream));
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  /// The device does not come to an end: everything stays until the process ends.
  void abandon() {
    streams.clear();
    events.clear();
    marks.clear();
    if (timer) timer->abandon();
    if (memory) memory->abandon();
    if (operations) operations->abandon();
    if (data) data->abandon();
  }

  const RankContext& context;
  std::vector<Stream> streams;
  std::vector<Event> events;          // of the program; null: never recorded
  std::vector<Event> marks;           // [stream]: for waitStream and drains
  std::unique_ptr<SliceTimer> timer;  // these before the streams go
  std::unique_ptr<RankMemory> memory;
  std::unique_ptr<Operations> operations;
  std::unique_ptr<DataKernels> data;
};

}  // namespace vsim::gpu::device
