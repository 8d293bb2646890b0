#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/program/step_program.h"
#include "gpu/device/device_block.h"

namespace vsim::gpu::device {

/// Issues compute kernels with operands of the right shapes and of ordinary values. Each stream has one block
/// that kernels, and collectives that are only timed, read and nobody writes, and one that they write: the
/// numbers that go into a product are the same at every launch, in a calibration and in a step. Both are
/// large enough for everything that the program runs on the stream. The rank's host thread only.
class Operations {
 public:
  /// Fails for fp8 products on a device that has none.
  Operations(const RankContext& context, const core::StepProgram& program, const DeviceFacts& facts,
             const std::vector<Stream>& streams);

  void launch(const core::Operation& operation, core::StreamId stream);
  /// What collectives without buffers send, and where they receive.
  [[nodiscard]] std::byte* operands(core::StreamId stream) const {
    return static_cast<std::byte*>(operands_[stream]->memory());
  }
  [[nodiscard]] std::byte* results(core::StreamId stream) const {
    return static_cast<std::byte*>(results_[stream]->memory());
  }
  /// Of all blocks.
  [[nodiscard]] core::Bytes bytes() const;
  void abandon();

 private:
  void refuseWithoutFp8(const core::Operation& operation, const DeviceFacts& facts) const;

  const RankContext& context_;
  const std::vector<Stream>& streams_;
  std::vector<std::unique_ptr<DeviceBlock>> operands_, results_;  // [stream]
};

/// Bytes of the send and the receive buffer of a collective without buffers.
struct TimedCollectiveBytes {
  std::size_t send = 0, receive = 0;
};
[[nodiscard]] TimedCollectiveBytes timedBytes(const core::Collective& collective);

}  // namespace vsim::gpu::device
