#include "gpu/cuda/cuda_status.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

namespace vsim::gpu::cuda {
namespace {

/// The runtime says "insufficient driver" where there is none at all.
std::string driverText() {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0) return "no NVIDIA driver found (libcuda.so.1)";
  const auto version = [](int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); };
  return "the NVIDIA driver supports CUDA " + version(driver) + ", but CUDA " + version(runtime) +
         " is needed";
}

}  // namespace

device::Status runtimeStatus(const char* call, int code) {
  if (code == cudaSuccess) return {};
  const auto error = static_cast<cudaError_t>(code);
  cudaGetLastError();
  const std::string what = error == cudaErrorInsufficientDriver ? driverText() : cudaGetErrorString(error);
  return {code, std::string(call) + ": " + what + " (" + cudaGetErrorName(error) + ", " +
                    std::to_string(code) + ")"};
}

device::Status blasStatus(const std::string& call, int code) {
  if (code == CUBLAS_STATUS_SUCCESS) return {};
  return {kBlasCodes + code, call + ": " + cublasLtGetStatusName(static_cast<cublasStatus_t>(code)) + " (" +
                                 std::to_string(code) + ")"};
}

device::Status refused(std::string text) { return {kOwnCodes, std::move(text)}; }

}  // namespace vsim::gpu::cuda
