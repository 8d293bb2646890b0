// What vsim looks for in libvsim_cuda.so (gpu/device/api.h).

#include "gpu/cuda/cuda_api.h"
#include "gpu/device/api.h"

#define VSIM_EXPORTED extern "C" __attribute__((visibility("default")))

VSIM_EXPORTED int vsimDeviceApiVersion() { return vsim::gpu::device::kApiVersion; }
VSIM_EXPORTED vsim::gpu::device::Api* vsimMakeDeviceApi() { return new vsim::gpu::cuda::CudaApi(); }
