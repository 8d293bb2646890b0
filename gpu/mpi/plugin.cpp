// What vsim looks for in this library (gpu/host/process_transport.h).

#include "gpu/mpi/mpi_transport.h"

#define VSIM_EXPORT extern "C" __attribute__((visibility("default")))

VSIM_EXPORT int vsimTransportVersion() { return vsim::gpu::kTransportVersion; }

VSIM_EXPORT vsim::gpu::ProcessTransport* vsimMakeTransport() { return new vsim::gpu::MpiTransport; }
