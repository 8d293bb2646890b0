#pragma once

#include <map>
#include <vector>

#include "core/program/memory_model.h"
#include "gpu/device/communicators.h"

namespace vsim::gpu::device {

/// Segments of one rank's device for an allocator, registered with the communicators that move data, where
/// they take that. The rank's host thread only.
class DeviceSegments : public core::SegmentSource {
 public:
  DeviceSegments(const RankContext& context, std::vector<RankCommunicator*> communicators)
      : context_(context), communicators_(std::move(communicators)) {}

  std::optional<std::uint64_t> obtain(core::Bytes bytes) override;
  void giveBack(std::uint64_t address) override;
  /// From now on nothing goes back: the device still uses it.
  void abandon() { abandoned_ = true; }

 private:
  struct Registration {
    RankCommunicator* communicator = nullptr;
    void* handle = nullptr;
  };
  const RankContext& context_;
  std::vector<RankCommunicator*> communicators_;
  std::map<std::uint64_t, std::vector<Registration>> segments_;  // by address
  bool abandoned_ = false;
};

}  // namespace vsim::gpu::device
