#pragma once

#include <string>

#include "gpu/device/api.h"

namespace vsim::gpu::cuda {

/// Outcomes of the libraries' calls as Status. Codes of NCCL and cuBLASLt are shifted, so that none is taken
/// for the runtime's kOutOfMemory.
inline constexpr int kNcclCodes = 10'000;
inline constexpr int kBlasCodes = 20'000;
inline constexpr int kOwnCodes = 30'000;

/// `code`: a cudaError_t. "cudaMalloc: out of memory (cudaErrorMemoryAllocation, 2)". Takes the error from
/// the runtime, so that a later call does not report it again.
[[nodiscard]] device::Status runtimeStatus(const char* call, int code);
/// `code`: a cublasStatus_t.
[[nodiscard]] device::Status blasStatus(const std::string& call, int code);
/// A refusal of the plug-in itself.
[[nodiscard]] device::Status refused(std::string text);

}  // namespace vsim::gpu::cuda
