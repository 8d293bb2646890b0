#pragma once

#include "gpu/device/rank_context.h"

namespace vsim::gpu::device {

/// Device memory for the executor's own needs, freed at the end unless abandoned.
class DeviceBlock {
 public:
  DeviceBlock(const RankContext& context, std::size_t bytes, const std::string& what)
      : context_(context), bytes_(bytes) {
    if (bytes == 0) return;
    const Status status = context.api.allocate(memory_, bytes);
    if (status.code == kOutOfMemory)
      context.fail(fmt::format("out of memory: {} for {} ({})",
                               core::formatBytes(static_cast<core::Bytes>(bytes)), what, status.text),
                   "a run on real hardware needs this beside what `vsim memory` shows of the program");
    context.check(status);
  }
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;
  ~DeviceBlock() {
    if (memory_ != nullptr) static_cast<void>(context_.api.free(memory_));
  }
  void abandon() { memory_ = nullptr; }

  [[nodiscard]] void* memory() const { return memory_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  const RankContext& context_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace vsim::gpu::device
