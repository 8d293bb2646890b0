#pragma once

#include <memory>
#include <vector>

#include "core/program/step_program.h"
#include "gpu/device/device_block.h"

namespace vsim::gpu::device {

/// Issues compute kernels with operands of the right shapes whose values do not matter. Each stream has one
/// scratch block, large enough for everything that the program runs on it: operands of kernels, and of
/// collectives that are only timed. The rank's host thread only.
class Operations {
 public:
  /// Fails for fp8 products on a device that has none.
  Operations(const RankContext& context, const core::StepProgram& program, const DeviceFacts& facts,
             const std::vector<Stream>& streams);

  void launch(const core::Operation& operation, core::StreamId stream);
  [[nodiscard]] void* scratch(core::StreamId stream) const { return scratch_[stream]->memory(); }
  void abandon();

 private:
  const RankContext& context_;
  const std::vector<Stream>& streams_;
  std::vector<std::unique_ptr<DeviceBlock>> scratch_;  // [stream]
};

/// Bytes of the send and the receive buffer of a collective without buffers, which lie one after the other.
struct TimedCollectiveBytes {
  std::size_t send = 0, receive = 0;
};
[[nodiscard]] TimedCollectiveBytes timedBytes(const core::Collective& collective);

}  // namespace vsim::gpu::device
