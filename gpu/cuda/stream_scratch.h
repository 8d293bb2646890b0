#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include "gpu/cuda/kernels.h"
#include "gpu/device/api.h"

namespace vsim::gpu::cuda {

/// Device memory that the libraries and kernels need beside their operands. Each stream has its own, since
/// work of two streams runs at once.
struct StreamMemory {
  void* workspace = nullptr;  // of cuBLASLt
  std::size_t workspaceBytes = 0;
  ReductionScratch reduction;
};

/// Thread-safe. Memory is allocated at a stream's first use, and freed with the stream.
class StreamScratch {
 public:
  StreamScratch() = default;
  StreamScratch(const StreamScratch&) = delete;
  StreamScratch& operator=(const StreamScratch&) = delete;

  [[nodiscard]] device::Status workspaceOf(int device, device::Stream stream, std::size_t bytes,
                                           StreamMemory& out);
  [[nodiscard]] device::Status reductionOf(int device, device::Stream stream, StreamMemory& out);
  /// Frees what the stream has. Waits for the device.
  [[nodiscard]] device::Status drop(device::Stream stream);

 private:
  std::mutex mutex_;
  std::map<std::pair<int, device::Stream>, StreamMemory> memory_;
};

}  // namespace vsim::gpu::cuda
