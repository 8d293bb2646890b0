// The launches of gpu/cuda/kernels.h with their kernels, compiled for the host.

#include "tests/gpu/cuda/emulated_device.h"

#include "gpu/cuda/adamw.cu"
#include "gpu/cuda/copy_segments.cu"
#include "gpu/cuda/elementwise.cu"
#include "gpu/cuda/quantize.cu"
#include "gpu/cuda/reductions.cu"
#include "gpu/cuda/touch.cu"
