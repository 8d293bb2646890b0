#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "gpu/cuda/product.h"
#include "gpu/device/api.h"

namespace vsim::gpu::cuda {

/// Matrix products by cuBLASLt. The library's choice of a kernel is asked for once a shape, type, alignment
/// and device, and kept. Thread-safe.
class Blas {
 public:
  Blas();
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  /// On `device`, which is the calling thread's, with `workspace` of workspaceBytes(device) bytes that no
  /// other stream uses. kind of failure "not supported" is told by unsupported().
  [[nodiscard]] device::Status multiply(int device, const Product& product, const Matrices& matrices,
                                        void* workspace, device::Stream stream);
  /// 32 MiB from sm_90 on, as NVIDIA recommends, and 8 MiB before.
  [[nodiscard]] device::Status workspaceBytes(int device, std::size_t& out);
  /// The library has no kernel for this product.
  [[nodiscard]] static bool unsupported(const device::Status& status);

 private:
  struct OnDevice;
  struct Plan;
  [[nodiscard]] device::Status onDevice(int device, OnDevice*& out);

  std::mutex mutex_;
  std::map<int, std::unique_ptr<OnDevice>> devices_;
};

}  // namespace vsim::gpu::cuda
