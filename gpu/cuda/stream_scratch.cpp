#include "gpu/cuda/stream_scratch.h"

#include <cuda_runtime_api.h>

#include "gpu/cuda/cuda_status.h"
#include "gpu/cuda/launch_plan.h"

namespace vsim::gpu::cuda {

device::Status StreamScratch::workspaceOf(int device, device::Stream stream, std::size_t bytes,
                                          StreamMemory& out) {
  const std::lock_guard lock(mutex_);
  StreamMemory& own = memory_[{device, stream}];
  if (own.workspace == nullptr && bytes > 0) {
    void* made = nullptr;
    device::Status status = runtimeStatus("cudaMalloc (workspace of cuBLASLt)", cudaMalloc(&made, bytes));
    if (!status.ok()) return status;
    own.workspace = made;
    own.workspaceBytes = bytes;
  }
  out = own;
  return {};
}

device::Status StreamScratch::reductionOf(int device, device::Stream stream, StreamMemory& out) {
  const std::lock_guard lock(mutex_);
  StreamMemory& own = memory_[{device, stream}];
  if (own.reduction.partials == nullptr) {
    constexpr std::size_t kPartials = kReductionBlocks * sizeof(float), kBytes = kPartials + 256;
    void* made = nullptr;
    device::Status status = runtimeStatus("cudaMalloc (partial sums)", cudaMalloc(&made, kBytes));
    if (!status.ok()) return status;
    // In the stream's order: before the reduction that asked for it.
    status = runtimeStatus("cudaMemsetAsync (partial sums)",
                           cudaMemsetAsync(made, 0, kBytes, static_cast<cudaStream_t>(stream)));
    if (!status.ok()) {
      cudaFree(made);
      return status;
    }
    own.reduction.partials = static_cast<float*>(made);
    own.reduction.done = reinterpret_cast<unsigned int*>(static_cast<char*>(made) + kPartials);
  }
  out = own;
  return {};
}

device::Status StreamScratch::drop(device::Stream stream) {
  const std::lock_guard lock(mutex_);
  device::Status status;
  for (auto entry = memory_.begin(); entry != memory_.end();) {
    if (entry->first.second != stream) {
      ++entry;
      continue;
    }
    for (void* memory : {entry->second.workspace, static_cast<void*>(entry->second.reduction.partials)}) {
      const int code = memory == nullptr ? 0 : cudaFree(memory);
      if (code != 0 && status.ok()) status = runtimeStatus("cudaFree (scratch of a stream)", code);
    }
    entry = memory_.erase(entry);
  }
  return status;
}

}  // namespace vsim::gpu::cuda
