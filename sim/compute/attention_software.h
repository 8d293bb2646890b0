#pragma once

#include <string>

#include "core/profile/hardware.h"
#include "sim/compute/attention_time.h"
#include "sim/compute/kernel_parameters.h"

namespace vsim::sim {

/// Parameters, device and rate that stand for one attention library on one board and direction.
struct AttentionChoice {
  const ParameterBlock<AttentionParameters>* block = nullptr;
  Device device;
  double rate = 1;
  bool eager = false;  // scores written to memory, no fused kernel
};

/// The library that frameworks pick by themselves: FlashAttention-2 on Ampere and Ada, FlashAttention-3 on
/// Hopper, cuDNN on Blackwell.
std::string usualAttention(const core::GpuSpec& gpu);

/// `library` is a class of kernel_lookup.h; empty: usualAttention. A class without measured rows on the
/// family takes the nearest measured one: kernels of an older generation run by SM count and clock ratio.
AttentionChoice chooseAttention(const KernelParameters& parameters, const core::GpuSpec& gpu,
                                const std::string& library, Direction direction);

}  // namespace vsim::sim
